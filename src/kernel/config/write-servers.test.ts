import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { editServers } from './edit-servers.ts';
import { writeServers } from './write-servers.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-servers-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = (): string => join(home, 'config.json');
const uid = process.getuid?.() ?? -1;
const write = (...changes: Parameters<typeof editServers>[2]) => writeServers({ home, uid, now: 0 }, () => changes);

const COMMENTED = `// mine
{
    "log": { "level": "warn" }, // quiet
    "mcpServers": {
        // the first
        "one": {
            "command": "one", // runs
            "args": ["a"],
        },
        "two": { "url": "https://two.example/mcp" },
    },
}
`;

test('comments, order, indentation and the spelling of the key stay', () => {
  const text = editServers('f', COMMENTED, [
    { name: 'one', entry: { command: 'one', args: ['b'], enabled: false } },
    { name: 'two', entry: undefined },
    { name: 'three', entry: { command: 'three' } },
  ]);
  for (const kept of ['// mine', '// quiet', '// the first', '// runs', '"mcpServers"', '\n    "log"']) expect(text).toContain(kept);
  expect(text).not.toContain('two.example');
  expect(text).not.toContain('mcp_servers');
  expect(text).toMatch(/"enabled": false/);
  expect(text).toMatch(/\n {8}"three": \{/);
  const back = editServers('f', text, [{ name: 'one', entry: { command: 'one', args: ['b'] } }]);
  expect(back).not.toContain('enabled');
  expect(back).toContain('// runs');
});

test.each(['', '{}', '\uFEFF{\r\n\t"log": {}\r\n}\r\n', '{"mcp_servers": {}}'])('a server comes into %j', (before) => {
  const text = editServers('f', before, [{ name: 'x', entry: { command: 'x' } }]);
  expect(JSON.parse(text.replace('\uFEFF', ''))).toMatchObject({ mcp_servers: { x: { command: 'x' } } });
  expect(text.startsWith('\uFEFF')).toBe(before.startsWith('\uFEFF'));
  if (before.includes('\r\n')) expect(text.replaceAll('\r\n', '')).not.toContain('\n');
});

test.each(['{', '{"log": {"level": "loud"}}', '{"mcp_servers": {"a": {}, "a": {}}}', '[]'])(
  'a file that is no good before is not edited: %s',
  (before) => {
    expect(() => editServers('f', before, [{ name: 'x', entry: { command: 'x' } }])).toThrow('Nothing was written');
  },
);

test('names that mean something to the language are names', () => {
  const text = editServers('f', '{}', [{ name: 'constructor', entry: { command: 'x' } }]);
  expect(JSON.parse(text)).toEqual({ mcp_servers: { constructor: { command: 'x' } } });
});

test('the file as it was is kept, twenty times', async () => {
  expect(await write({ name: 'a', entry: { command: 'a' } })).toEqual({ file: file() });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  const before = readFileSync(file(), 'utf8');
  const { backup = '' } = await write({ name: 'b', entry: { command: 'b' } });
  expect(readFileSync(backup, 'utf8')).toBe(before);
  for (let time = 0; time < 25; time++) await write({ name: 'b', entry: { command: `b${time}` } });
  expect(readdirSync(join(home, 'config-backups'))).toHaveLength(20);
  expect(readdirSync(home).sort()).toEqual(['config-backups', 'config.json']);
});

test('nothing is written where nothing changes', async () => {
  writeFileSync(file(), COMMENTED, { mode: 0o600 });
  expect(await write({ name: 'two', entry: { url: 'https://two.example/mcp' } })).toEqual({ file: file() });
  expect(readFileSync(file(), 'utf8')).toBe(COMMENTED);
  expect(existsSync(join(home, 'config-backups'))).toBe(false);
});

test('a link stays a link, and its file keeps its mode', async () => {
  const real = join(home, 'dotfiles.json');
  writeFileSync(real, '{}', { mode: 0o640 });
  chmodSync(real, 0o640);
  symlinkSync(real, file());
  await write({ name: 'a', entry: { command: 'a' } });
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, 'utf8')).toContain('"a"');
  expect(statSync(real).mode & 0o777).toBe(0o640);
});

test('two at once both come in', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => write({ name, entry: { command: name } })));
  expect(Object.keys(JSON.parse(readFileSync(file(), 'utf8')).mcp_servers).sort()).toEqual(['a', 'b', 'c', 'd']);
});

test('what a killed process left beside it is in nobody’s way', async () => {
  writeFileSync(`${file()}.next`, 'half');
  await write({ name: 'a', entry: { command: 'a' } });
  expect(existsSync(`${file()}.next`)).toBe(false);
});

test('a file that others can write is not edited', async () => {
  writeFileSync(file(), '{}');
  chmodSync(file(), 0o666);
  await expect(write({ name: 'a', entry: { command: 'a' } })).rejects.toThrow('other users');
});

test('what a person saves while it is being written stays', async () => {
  writeFileSync(file(), COMMENTED, { mode: 0o600 });
  let saved = 0;
  const entry = (): Record<string, unknown> => {
    // An editor knows nothing of the lock.
    if (saved < 2) writeFileSync(file(), COMMENTED.replace('// mine', `// mine, saved ${++saved}`));
    return { command: 'three' };
  };
  const { backup = '' } = await write({ name: 'three', entry });
  const text = readFileSync(file(), 'utf8');
  expect(text).toContain('// mine, saved 2');
  expect(text).toContain('"three"');
  expect(readFileSync(backup, 'utf8')).toContain('// mine, saved 2');
  expect(readdirSync(home).sort()).toEqual(['config-backups', 'config.json']);
});

test('a file that never rests is left alone', async () => {
  writeFileSync(file(), COMMENTED, { mode: 0o600 });
  let saved = 0;
  const entry = (): Record<string, unknown> => {
    writeFileSync(file(), COMMENTED.replace('// mine', `// mine, saved ${++saved}`));
    return { command: 'three' };
  };
  await expect(write({ name: 'three', entry })).rejects.toMatchObject({ code: 'busy' });
  expect(readFileSync(file(), 'utf8')).toContain(`// mine, saved ${saved}`);
});
