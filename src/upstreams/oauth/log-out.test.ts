import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logOut } from './log-out.ts';
import { createLogins } from './logins.ts';
import type { LoginRecord } from './types.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-log-out-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const key = { name: 'remote', project: null, url: 'https://mcp.example/' };
const recordOf = (refresh_token: string): LoginRecord => ({
  client: { client_id: 'writ' },
  tokens: { access_token: `a-${refresh_token}`, token_type: 'Bearer', refresh_token },
  discovery: {
    authorizationServerUrl: 'https://issuer.example',
    authorizationServerMetadata: {
      issuer: 'https://issuer.example',
      authorization_endpoint: 'https://issuer.example/authorize',
      token_endpoint: 'https://issuer.example/token',
      response_types_supported: ['code'],
      revocation_endpoint: 'https://issuer.example/revoke',
    },
  },
});

test('what is revoked is the login that is taken away, renewed meanwhile or not', async () => {
  const logins = createLogins(home);
  await logins.change(key, async (_now, save) => save(recordOf('first')));
  const renewal = Promise.withResolvers<void>();
  const renewed = logins.change(key, async (_now, save) => {
    await renewal.promise;
    save(recordOf('second'));
  });
  const revoked: unknown[] = [];
  const out = logOut(key, logins, async (_url, init) => {
    revoked.push(new URLSearchParams(String(init?.body)).get('token'));
    return new Response();
  });
  renewal.resolve();
  await renewed;
  expect(await out).toEqual({ was: true, revoked: true });
  expect(revoked).toEqual(['second']);
  expect(logins.read(key)).toEqual({ state: 'none' });
});
