import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createLogins } from './logins.ts';

const home = mkdtempSync(join(tmpdir(), 'writ-logins-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('every token and secret that is kept or read is told, in whatever process', async () => {
  const key = { name: 'x', project: null, url: 'https://a.example/mcp' };
  const kept: string[] = [];
  await createLogins(home, (_source, secrets) => void kept.push(...secrets)).change(key, async (_now, save) =>
    save({
      client: { client_id: 'c', client_secret: 'the-client-secret' },
      tokens: { access_token: 'the-access-token', token_type: 'bearer', refresh_token: 'the-refresh-token' },
    }),
  );
  const read: string[] = [];
  createLogins(home, (_source, secrets) => void read.push(...secrets)).read(key);
  expect(kept).toEqual(['the-client-secret', 'the-access-token', 'the-refresh-token']);
  expect(read).toEqual(kept);
});
