import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UpstreamSettings } from '../types.ts';
import { createPackages } from './packages.ts';
import type { InstallerEnd, InstallerRun } from './types.ts';

let base: string;
let now: number;
/** What an installer leaves in its folder instead of a package. */
let leaves: (folder: string) => void;
let runs: number;
let end: InstallerEnd;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-packages-')));
  [now, runs, leaves] = [1_000_000, 0, () => {}];
  end = { exit_code: 0, output: '', refused: [] };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const never = new AbortController().signal;
const trees = (): string => join(base, 'trees');
const installed = (): readonly string[] => (existsSync(trees()) ? readdirSync(trees()).sort() : []);
const server = (name: string, more: Partial<UpstreamSettings> = {}): UpstreamSettings =>
  ({
    name,
    source: more.project === undefined ? 'operator' : 'project',
    transport: { type: 'stdio', command: 'npx', args: ['-y', 'kit'], env: {} },
    ...more,
  }) as UpstreamSettings;

function packages(): ReturnType<typeof createPackages> {
  return createPackages({
    home: base,
    clock: { now: () => now, monotonic: () => now },
    node: process.execPath,
    user_home: base,
    host_env: {},
    machine: async () => {
      mkdirSync(trees(), { recursive: true });
      return { folder: trees(), has: () => true };
    },
    run: async ({ folder }: InstallerRun) => {
      runs++;
      const root = join(folder, 'node_modules/kit');
      mkdirSync(root, { recursive: true });
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/kit': { version: `1.0.${runs}` } } }));
      writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'kit', bin: 'x.js' }));
      writeFileSync(join(root, 'x.js'), '');
      leaves(root);
      return end;
    },
  });
}

test('two that want the same at once get one installation', async () => {
  const both = await Promise.all([1, 2].map(() => packages().install(server('a'), { by: 'x' }, never)));
  expect(both.map(({ type }) => type).sort()).toEqual(['installed', 'there']);
  expect(runs).toBe(1);
});

test('taking an installation back leaves the one that somebody else has made since', async () => {
  const first = await packages().install(server('a'), { by: 'x' }, never);
  const second = await packages().install(server('a'), { by: 'y', update: true }, never);
  if (first.type !== 'installed' || second.type !== 'installed') throw new Error('nothing was installed');
  await first.undo();
  expect(packages().look(server('a'))).toMatchObject({ state: 'installed', record: { by: 'y' } });
  await second.undo();
  expect(packages().look(server('a'))).toMatchObject({ state: 'installed', record: { by: 'x' } });
});

test('what nobody has configured an hour later is swept, and nothing else', async () => {
  const gone = join(base, 'gone');
  const there = join(base, 'there');
  for (const folder of [gone, there]) mkdirSync(folder);
  const all = [server('kept'), server('lost'), server('kit', { project: gone }), server('kit', { project: there })];
  for (const each of all) await packages().install(each, { by: 'x' }, never);
  rmSync(gone, { recursive: true });
  await packages().sweep(new Set(['kept']));
  expect(installed()).toHaveLength(4);
  now += 60 * 60_000;
  await packages().sweep(new Set(['kept']));
  expect(all.map((each) => packages().look(each).state)).toEqual(['installed', 'missing', 'missing', 'installed']);
  expect(installed()).toHaveLength(2);
  rmSync(there, { recursive: true });
  await packages().sweep(new Set());
  expect(existsSync(trees())).toBe(false);
});

test.each<[string, (root: string) => void]>([
  ['no JSON', (root) => writeFileSync(join(root, 'package.json'), '{')],
  ['a program that is a number', (root) => writeFileSync(join(root, 'package.json'), '{"name":"kit","bin":5}')],
  ['a folder for a program', (root) => writeFileSync(join(root, 'package.json'), '{"name":"kit","bin":{"kit":"."}}')],
])('%s in a package is its fault and not one of ours', async (_, odd) => {
  leaves = odd;
  const failed = packages().install(server('a'), { by: 'x' }, never);
  await expect(failed).rejects.toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('kit is not made as a package is'),
  });
  expect(installed()).toEqual([]);
});

test('no program in there runs as its owner', async () => {
  leaves = (root) => chmodSync(join(root, 'x.js'), 0o6755);
  const made = await packages().install(server('a'), { by: 'x' }, never);
  if (made.type !== 'installed') throw new Error('nothing was installed');
  const { folder } = made.record;
  const { mode } = statSync(join(folder, 'node_modules/kit/x.js'));
  // An ordinary user's folder nobody else may enter.
  if (process.getuid?.() === 0) expect(mode & 0o7777).toBe(0o755);
  else expect(statSync(folder).mode & 0o077).toBe(0);
});

test('an installer that took too much is said to have', async () => {
  end = { exit_code: 137, output: '', refused: [], limits_hit: ['disk'] };
  const failed = packages().install(server('a'), { by: 'x' }, never);
  await expect(failed).rejects.toMatchObject({ message: expect.stringContaining('more than sandbox.limits give it (disk)') });
  expect(installed()).toEqual([]);
});
