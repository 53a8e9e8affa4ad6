import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WRITER_THREAD } from '../../test/helpers/programs.ts';
import { silentLogger } from '../kernel/logger.ts';
import { type Database, openDatabase } from '../main/parts/database.ts';
import { createIdentity } from './identity.ts';
import { hashOfToken } from './token-secret.ts';
import type { AgentToken, Identity } from './types.ts';

const HOUR = 3_600_000;
let base: string;
let now: number;
let databases: Database[];

const find = async ({ tokens }: Identity, secret: string): Promise<AgentToken | undefined> => {
  const hash = hashOfToken(secret);
  return hash && tokens.find(hash);
};

/** What one process of this Writ home has. */
function processOf(): Identity {
  const database = openDatabase(join(base, 'writ'), WRITER_THREAD);
  databases.push(database);
  return createIdentity({
    store: database.store,
    reader: database.reader,
    clock: { now: () => now, monotonic: () => 0 },
    logger: silentLogger,
    facts: { cwd: base, user: { name: 'u', home: join(base, 'home'), shell: undefined } },
    home: join(base, 'writ'),
  });
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-identity-')));
  now = Date.UTC(2026, 10, 30);
  databases = [];
  for (const name of ['writ', 'home', 'a', 'b']) mkdirSync(join(base, name), { mode: 0o700 });
});
afterEach(async () => {
  await Promise.all(databases.map((database) => database.close()));
  rmSync(base, { recursive: true, force: true });
});

test('a token is found by itself alone, in every process, until it is revoked or expires', async () => {
  const one = processOf();
  const other = processOf();
  await one.workspaces.add('a', join(base, 'a'));
  const { token, secret } = await one.tokens.create({ name: 'ci', workspaces: ['a', 'a'], toolset: 'default', expires_at: now + HOUR });
  expect(secret).toMatch(/^writ_at_[\w-]{43}$/);
  expect(token).toMatchObject({ name: 'ci', agent: 'agent_ci', workspaces: ['a'], toolset: 'default', attended: false });
  expect(await find(other, secret)).toEqual(token);
  for (const wrong of ['', 'writ_at_', secret.slice(0, -1), `${secret}A`, ` ${secret}`, secret.toLowerCase(), 'x'.repeat(100_000)]) {
    expect(await find(other, wrong)).toBeUndefined();
  }
  expect(await other.tokens.revoke('ci')).toMatchObject({ name: 'ci', revoked_at: now });
  expect(await find(one, secret)).toBeUndefined();
  expect(await one.tokens.revoke('ci')).toBeUndefined();

  const later = await one.tokens.create({ name: 'ci', workspaces: [], toolset: 'default', expires_at: now + HOUR });
  now += HOUR;
  expect(await find(one, later.secret)).toBeUndefined();
  // What has expired doesn't keep its name.
  const { token: sat } = await one.tokens.create({ name: 'ci', workspaces: [], toolset: 'default', attended: true });
  expect((await other.tokens.list()).find(({ id }) => id === sat.id)).toMatchObject({ attended: true });
  expect((await one.tokens.list()).map(({ name }) => name)).toEqual(['ci', 'ci', 'ci']);
});

test('no file of the home holds a token or a link', async () => {
  const one = processOf();
  const { secret } = await one.tokens.create({ name: 'ci', workspaces: [], toolset: 'default' });
  const key = await one.links.make();
  for (const name of ['writ.db', 'writ.db-wal']) {
    const file = join(base, 'writ', name);
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    expect(bytes.includes(secret) || bytes.includes(secret.slice(8)) || bytes.includes(key)).toBe(false);
  }
});

test('two at once: one token of a name, one use of a link', async () => {
  const [one, other] = [processOf(), processOf()];
  const made = await Promise.allSettled([one, other].map((each) => each.tokens.create({ name: 'ci', workspaces: [], toolset: 'default' })));
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const key = await one.links.make();
  expect((await Promise.all([one.links.use(key), other.links.use(key), one.links.use(key)])).filter(Boolean)).toHaveLength(1);
  const old = await one.links.make();
  now += 600_000;
  expect(await other.links.use(old)).toBe(false);
  expect(await other.links.use('')).toBe(false);
});

test.each(['', 'local', 'Big', '../x', '-x', 'a b', 'x'.repeat(41)])('%j is no name of a token', async (name) => {
  await expect(processOf().tokens.create({ name, workspaces: [], toolset: 'default' })).rejects.toMatchObject({
    code: 'invalid_arguments',
  });
});

test('workspaces: the rules of --root, one name and one place each', async () => {
  const { workspaces, tokens } = processOf();
  expect(await workspaces.add('a', join(base, 'a'))).toMatchObject({ name: 'a', path: join(base, 'a') });
  expect(await workspaces.add('b', 'b')).toMatchObject({ path: join(base, 'b') });
  for (const [name, path] of [
    ['a', join(base, 'home')],
    ['c', join(base, 'a')],
    ['c', '/'],
    ['c', join(base, 'home')],
    ['c', join(base, 'writ')],
    ['c', base],
    ['c', join(base, 'nothing')],
    ['..', join(base, 'b')],
  ] as const) {
    await expect(workspaces.add(name, path)).rejects.toMatchObject({ code: 'invalid_arguments' });
  }
  await expect(tokens.create({ name: 'ci', workspaces: ['a', 'zz'], toolset: 'default' })).rejects.toThrow('no workspace "zz"');
  expect(await workspaces.remove('a')).toMatchObject({ name: 'a' });
  expect(await workspaces.remove('a')).toBeUndefined();
  expect((await workspaces.list()).map(({ name }) => name)).toEqual(['b']);
});

test('a Run goes on in every process and after a restart, and ends after 8 hours without use', async () => {
  const one = processOf();
  const run = await one.runOf('agent_ci', '/w');
  expect(run).toMatch(/^run_/);
  expect(await processOf().runOf('agent_ci', '/w')).toBe(run);
  expect(await one.runOf('agent_ci', '/other')).not.toBe(run);
  expect(await one.runOf('agent_other', '/w')).not.toBe(run);
  now += 7 * HOUR;
  expect(await one.runOf('agent_ci', '/w')).toBe(run);
  now += 7 * HOUR;
  expect(await processOf().runOf('agent_ci', '/w')).toBe(run);
  now += 8 * HOUR;
  expect(await one.runOf('agent_ci', '/w')).not.toBe(run);
});
