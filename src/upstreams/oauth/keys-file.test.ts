import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readKeysFile } from './keys-file.ts';

const home = mkdtempSync(join(tmpdir(), 'writ-keys-'));
const folder = join(home, 'mcp_oauth');
mkdirSync(folder, { mode: 0o700 });
afterAll(() => rmSync(home, { recursive: true, force: true }));

const KEYS = JSON.stringify({ installed: { client_id: 'id', client_secret: 'secret' } });
const put = (path: string, text = KEYS, mode = 0o600): void => writeFileSync(path, text, { mode });

test('client_id and client_secret stand under installed or web', () => {
  put(join(folder, 'installed.json'));
  put(join(folder, 'web.json'), JSON.stringify({ web: { client_id: 'w', client_secret: 's' } }));
  expect(readKeysFile(home, 'installed.json')).toEqual({ client_id: 'id', client_secret: 'secret' });
  expect(readKeysFile(home, 'web.json')).toEqual({ client_id: 'w', client_secret: 's' });
});

test('what lies elsewhere is not read, whatever leads to it', () => {
  put(join(home, 'outside.json'));
  symlinkSync(join(home, 'outside.json'), join(folder, 'link.json'));
  symlinkSync(home, join(folder, 'dir'));
  for (const name of ['link.json', 'dir/outside.json', '../outside.json', join(home, 'outside.json')]) {
    expect(() => readKeysFile(home, name), name).toThrow(/outside of/);
  }
});

test('what others may read is not used', () => {
  put(join(folder, 'open.json'));
  chmodSync(join(folder, 'open.json'), 0o640);
  expect(() => readKeysFile(home, 'open.json')).toThrow(/others may read/);
  chmodSync(folder, 0o755);
  expect(() => readKeysFile(home, 'installed.json')).toThrow(/others may look/);
  chmodSync(folder, 0o700);
});

test.each(['{}', 'no json', '[]', '{"web": {"client_id": 1}}'])('%s holds no keys', (text) => {
  put(join(folder, 'bad.json'), text);
  expect(() => readKeysFile(home, 'bad.json')).toThrow(/client_id/);
  expect(() => readKeysFile(home, 'missing.json')).toThrow(/ENOENT/);
});
