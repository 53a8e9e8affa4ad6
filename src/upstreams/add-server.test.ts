import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSealedStore } from '../identity/index.ts';
import { writeServers } from '../kernel/config/write-servers.ts';
import { addServer } from './add-server.ts';
import type { UpstreamSettings, UpstreamStatus } from './types.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-add-server-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('one that somebody else adds while it is connected is replaced only where that was said', async () => {
  const file = join(home, 'config.json');
  const theirs = '{ "mcp_servers": { "one": { "command": "theirs" } } }';
  const secrets = createSealedStore(home, 'secrets');
  const add = (replace: boolean) =>
    addServer(
      {
        settings: {
          name: 'one',
          enabled: true,
          transport: { type: 'stdio', command: 'mine', args: [], env: {} },
        } as unknown as UpstreamSettings,
        entry: { command: 'mine' },
        secrets: { 'one.TOKEN': 'mine' },
        connect: true,
        replace,
      },
      {
        secrets,
        install: async () => ({ type: 'none' }),
        look: async () => {
          writeFileSync(file, theirs, { mode: 0o600 });
          return { status: { state: 'connected' } as UpstreamStatus, tools: [], log: [] };
        },
        write: (changes) => writeServers({ home, uid: process.getuid?.() ?? 0, now: 0 }, () => changes),
      },
    );
  await expect(add(false)).rejects.toMatchObject({ code: 'backend_changed' });
  expect(readFileSync(file, 'utf8')).toBe(theirs);
  expect(secrets.list()).toEqual([]);
  expect((await add(true)).type).toBe('written');
  expect(readFileSync(file, 'utf8')).toContain('mine');
});
