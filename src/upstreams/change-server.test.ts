import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSealedStore } from '../identity/index.ts';
import { writeServers } from '../kernel/config/write-servers.ts';
import { type ChangeServerParts, changeServer } from './change-server.ts';
import { disabledTools, withDisabledTools } from './settings/entry-edits.ts';
import type { UpstreamSettings } from './types.ts';

let home: string;
let parts: ChangeServerParts;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-change-server-'));
  writeFileSync(join(home, 'config.json'), '{ "mcp_servers": { "one": { "command": "a" } } }', { mode: 0o600 });
  const uid = process.getuid?.() ?? 0;
  parts = {
    secrets: createSealedStore(home, 'secrets'),
    check: (name, { command }) =>
      typeof command === 'string'
        ? { ok: true, settings: { name } as UpstreamSettings, warnings: [] }
        : { ok: false, problems: [{ message: 'it has no command' }], warnings: [] },
    write: (changes) => writeServers({ home, uid, now: 0 }, () => changes),
  };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const servers = (): unknown => JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')).mcp_servers;

test('two who change one entry at once both have their way', async () => {
  const without = (tool: string) => changeServer('one', (entry) => withDisabledTools(entry, [...disabledTools(entry), tool]), {}, parts);
  const changed = await Promise.all(['x', 'y', 'z'].map(without));
  expect(changed.map(({ type }) => type)).toEqual(['written', 'written', 'written']);
  expect(servers()).toEqual({ one: { command: 'a', disabled_tools: expect.arrayContaining(['x', 'y', 'z']) } });
});

test('what would be no good, or is gone, is not written, and no secret of it stays', async () => {
  const wrong = await changeServer('one', () => ({ env: {} }), { 'one.TOKEN': 'secret' }, parts);
  expect(wrong).toEqual({ type: 'invalid', problems: [{ message: 'it has no command' }] });
  await expect(changeServer('two', (entry) => entry, { 'two.TOKEN': 'secret' }, parts)).rejects.toMatchObject({ code: 'not_found' });
  expect(servers()).toEqual({ one: { command: 'a' } });
  expect(parts.secrets.list()).toEqual([]);
  expect((await changeServer('one', (entry) => ({ ...entry, cwd: '/' }), { 'one.TOKEN': 'secret' }, parts)).type).toBe('written');
  expect(parts.secrets.list()).toEqual(['one.TOKEN']);
});
