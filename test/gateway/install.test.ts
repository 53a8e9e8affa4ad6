import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePlace, type Place, runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';
import { listed } from './place.ts';
import { openRegistry, PACKAGE, type Registry } from './registry.ts';

/** A server that is written with npx: nothing is fetched at a start, one act installs it, and it runs from there. One test, told in order. */

let place: Place;
let registry: Registry;
/** Where the installations of this Writ home lie. */
let trees: string | undefined;
beforeAll(async () => {
  place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  registry = await openRegistry();
  registry.publish('1.0.0');
});
afterAll(async () => {
  // Root's lie outside of the Writ home.
  if (trees !== undefined) rmSync(trees, { recursive: true, force: true });
  await registry.close();
  place.remove();
});

interface Made {
  readonly package_version: string;
  readonly folder: string;
}
const record = (): Made | undefined => {
  const path = join(place.home, 'packages/kit.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
};
const made = (): Made => record() ?? { package_version: 'none', folder: 'none' };
const upstream = (...args: readonly string[]) => runWrit(place, ['upstream', ...args]);
const state = async (): Promise<string> => JSON.parse((await upstream('show', 'kit', '--json')).stdout).state;
const words = (): readonly string[] => ['npx', '-y', `--registry=${registry.url}`, PACKAGE, '--era', 'older'];

test('it waits for its installation, which a running Writ notices', async () => {
  const [command, ...args] = words();
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcp_servers: { kit: { command, args, network: 'none' } } }), {
    mode: 0o600,
  });
  const mcp = await startMcp(place);
  expect(await state()).toContain('needs install: @writ-fixture/server is not installed');
  await expect.poll(() => mcp.stderr(), { timeout: 30_000 }).toContain('writ upstream install kit');
  expect(registry.asked()).toBe(0);

  const installed = await upstream('install', 'kit');
  expect(installed.stderr).toBe('');
  expect(installed.stdout).toContain(`${PACKAGE} 1.0.0 is installed (1 packages, sha512-`);
  trees = dirname(dirname(made().folder));
  await listed(mcp, 'kit__runs');
  expect(existsSync(join(made().folder, 'node_modules', PACKAGE, 'ran.txt'))).toBe(false);
  expect(existsSync(join(made().folder, '.npmrc'))).toBe(false);
  expect((await upstream('list')).stdout).toMatch(/kit .* connected/);
  await mcp.end();
});

test('what is installed stays until somebody wants a newer one, and the one before is kept for what still runs', async () => {
  registry.publish('1.1.0');
  const before = made();
  expect((await upstream('install', 'kit')).stdout).toContain('1.0.0 is installed already');
  expect((await upstream('install', 'kit', '--update')).stdout).toContain('1.1.0 is installed');
  expect(made().package_version).toBe('1.1.0');
  expect(readdirSync(dirname(made().folder))).toHaveLength(2);
  expect(existsSync(before.folder)).toBe(true);
});

test('files that were changed are noticed before a start, and put back by another installation', async () => {
  appendFileSync(join(made().folder, 'node_modules', PACKAGE, 'server.mjs'), '\n// more\n');
  expect(await state()).toMatch(/^quarantined: .*server\.mjs is not what was installed/);
  expect(JSON.parse((await upstream('test', 'kit', '--json')).stdout).status.state).toBe('quarantined');
  expect((await upstream('install', 'kit')).code).toBe(0);
  expect(await state()).toBe('may start');
});

test.each([
  ['SIGKILL', '1.2.0'],
  ['SIGINT', '1.3.0'],
] as const)('an installation that is ended by %s in its middle leaves the one before', async (signal, version) => {
  const before = made();
  // What the cache of the installer has is not fetched again.
  registry.publish(version);
  const wanted = registry.hang();
  const [node = '', ...argv] = WRIT;
  const child = spawn(node, [...argv, 'upstream', 'install', 'kit', '--update', '--json'], {
    cwd: place.workspace,
    env: place.env,
    stdio: 'ignore',
  });
  await wanted;
  child.kill(signal);
  await once(child, 'exit');
  registry.unhang();
  expect(made()).toEqual(before);
  expect(await state()).toBe('may start');
  if (signal === 'SIGINT') expect(readdirSync(dirname(before.folder)).filter((name) => name.endsWith('.draft'))).toEqual([]);
});

test('a server that can not be added leaves nothing, one that is removed neither', async () => {
  const failed = await upstream('add', 'bad', '--', 'npx', `--registry=${registry.url}`, `--package=${PACKAGE}`, 'nothing');
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).toContain('it has: fixture');
  const unclear = await upstream('add', 'odd', '--', 'npx', '-y', 'github:someone/thing');
  expect(unclear.stderr).toContain('is no name of a package');
  const left = [join(place.home, 'packages'), dirname(dirname(made().folder))].flatMap((path) => readdirSync(path));
  expect(left.filter((name) => !name.startsWith('kit'))).toEqual([]);

  const { folder } = made();
  expect((await upstream('remove', 'kit')).code).toBe(0);
  expect(existsSync(dirname(folder))).toBe(false);
  expect(record()).toBeUndefined();
});
