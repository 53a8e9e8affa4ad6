import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createRedactor } from '../../kernel/redaction/index.ts';
import { readSettings } from '../settings/read-settings.ts';
import { readImports } from './import-files.ts';
import { readForeign } from './read-file.ts';
import { translate } from './translate.ts';
import { HOSTS, type Translated } from './types.ts';

/** Files as people have them: what each server becomes, a word that says why it is left out, or why the file can't be read. */

const FOLDER = fileURLToPath(new URL('../../../test/corpora/import/', import.meta.url));
type Expected = string | Record<string, string | Record<string, unknown>>;
const CASES = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as Record<string, Expected>;
const home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-import-')));
const places = { writ_home: join(home, '.writ'), user: { name: 'dev', home, shell: undefined } };
const fits = (path: string): boolean => readSettings('x', { source: 'operator', entry: { command: 'x', roots: [path] } }, places).ok;
const parts = { home, redactor: createRedactor(), fits };
/** Values that stand in the files and may stand nowhere else. */
const PLANTED = /ghp_A1b2|sk-ant-api03|BSAabc|xoxb-|ctx7sk-|tvly-|0f1e2d3c|hunter2pass/;
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function all(file: string): Promise<readonly Translated[] | string> {
  const host = HOSTS.toSorted((a, b) => b.length - a.length).find((one) => file.startsWith(`${one}-`));
  const read = await readForeign(file, readFileSync(join(FOLDER, file), 'utf8'), host);
  return read.ok ? read.servers.map((one) => translate(one, { ...parts, host: read.host })) : read.why;
}

test('there are thirty files, and each has its case', () => {
  const files = readdirSync(FOLDER).filter((name) => name !== 'cases.json');
  expect(files.length).toBeGreaterThanOrEqual(30);
  expect(files.sort()).toEqual(Object.keys(CASES).sort());
});

test.each(Object.entries(CASES))('%s', async (file, expected) => {
  const servers = await all(file);
  if (typeof expected === 'string') return expect(servers).toContain(expected);
  if (typeof servers === 'string') throw new Error(servers);
  expect(servers).toHaveLength(Object.keys(expected).length);
  for (const [name, wanted] of Object.entries(expected)) {
    const found = servers.find((one) => (one.type === 'server' ? one.server.name : one.name) === name);
    if (found?.type !== 'server') {
      expect(found?.why, name).toContain(wanted);
      continue;
    }
    const { entry, notes, secrets } = found.server;
    const read = readSettings(name, { source: 'operator', entry }, places);
    if (typeof wanted === 'string') {
      expect(read.ok, name).toBe(false);
      continue;
    }
    const { $notes, $wanted, ...part } = wanted;
    expect(entry, name).toMatchObject(part);
    expect(read.ok ? [] : read.problems, name).toEqual([]);
    if ($notes !== undefined) expect(notes.join('\n')).toMatch(new RegExp(String($notes)));
    if ($wanted !== undefined) expect(found.server.wanted).toEqual($wanted);
    for (const name of Object.keys(secrets)) expect(JSON.stringify(entry)).toContain(`\${secret:${name}}`);
    // Every name that is filled in is declared: nothing of it stays as text.
    expect(read.warnings.filter(({ message }) => message.includes('not declared') || message.includes('not passed'))).toEqual([]);
    expect(JSON.stringify({ entry, notes })).not.toMatch(PLANTED);
  }
});

test('what was planted was found', async () => {
  const found = await Promise.all(Object.keys(CASES).map(all));
  const secrets = found.flatMap((servers) =>
    typeof servers === 'string' ? [] : servers.flatMap((one) => (one.type === 'server' ? Object.values(one.server.secrets) : [])),
  );
  expect(secrets.filter((value) => PLANTED.test(value))).toHaveLength(11);
});

test('two secrets under one name are two', () => {
  const one = translate(
    { name: 'x', entry: { command: 'x', args: ['--token', 'abcdefgh12', '--token', 'ijklmnop34'] } },
    { ...parts, host: undefined },
  );
  if (one.type !== 'server') throw new Error(one.why);
  expect(Object.values(one.server.secrets)).toEqual(['abcdefgh12', 'ijklmnop34']);
  expect(new Set(one.server.entry['args'] as string[]).size).toBe(3);
});

test('folders of a program are suggested, its home and the system are not', () => {
  const folder = join(home, 'project');
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'dist', 'server.js'), '');
  const one = translate(
    { name: 'x', entry: { command: 'node', args: [join(folder, 'dist', 'server.js'), home, '/etc', '--dir=/usr/share'] } },
    { ...parts, host: 'claude' },
  );
  if (one.type !== 'server') throw new Error(one.why);
  expect(one.server.entry['roots']).toEqual([folder]);
});

test('a folder that a variable names is given, too; a file is only said', async () => {
  const folder = join(home, 'kept');
  mkdirSync(folder, { recursive: true });
  const env = { DATA_DIR: folder, MEMORY_FILE_PATH: join(home, 'memory.jsonl') };
  const one = translate({ name: 'x', entry: { command: 'x', env } }, { ...parts, host: undefined });
  if (one.type !== 'server') throw new Error(one.why);
  expect(one.server.entry).toMatchObject({ env, roots: [folder] });
  const { warnings } = readSettings('x', { source: 'operator', entry: one.server.entry }, places);
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('MEMORY_FILE_PATH names the file')]);
});

test('a file that is not there, a folder and a pipe are said and not waited for', async () => {
  for (const path of [join(home, 'none.json'), home, '/dev/zero']) {
    expect((await readImports(path, parts)).unreadable).toMatchObject([{ path }]);
  }
  expect(await readImports(undefined, parts)).toEqual({ files: [], unreadable: [] });
});
