import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOST, type Person, personAt } from '../helpers/person.ts';
import { makePlace, type Place, runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';
import { fixture, listed } from './place.ts';

/** `writ upstream` and `writ secret` as a person types them. */

let place: Place;
beforeEach(() => {
  place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
});
afterEach(() => place.remove());

const config = (): string => readFileSync(join(place.home, 'config.json'), 'utf8');
const upstream = (...args: readonly string[]) => runWrit(place, ['upstream', ...args]);
const shows = (person: Person, text: string): Promise<void> =>
  expect.poll(() => person.screen(), { timeout: 60_000, interval: 50 }).toContain(text) as unknown as Promise<void>;

/** A server that says what it was given: see test/fixtures/gateway-server.mjs. */
function words(): readonly string[] {
  const { command, args } = fixture(place, 'gateway-server.mjs', ['--era', 'older']) as { command: string; args: readonly string[] };
  return ['--cwd', place.workspace, '--root', place.workspace, '--network', 'none', '--', command, ...args];
}

test('a server is added after it was connected, its tools are switched, and it goes again; comments stay', async () => {
  writeFileSync(join(place.home, 'config.json'), '{\n  // mine\n  "log": { "level": "warn" }\n}\n', { mode: 0o600 });
  const added = await upstream('add', 'one', '--env', 'API_TOKEN=very-secret-value-1', ...words());
  expect(added.code).toBe(0);
  expect(added.stdout).toContain('one: connected');
  expect(added.stdout).toContain('one__runs');
  expect(added.stdout).toContain('secret store');
  expect(config()).toContain('// mine');
  expect(config()).toContain(`"API_TOKEN": "\${secret:one.API_TOKEN}"`);
  expect(config() + added.stdout).not.toContain('very-secret');

  expect((await upstream('add', 'one', ...words())).stderr).toContain('already');
  expect((await upstream('disable', 'one', 'runs')).code).toBe(0);
  const tools = JSON.parse((await upstream('tools', 'one', '--json')).stdout).tools as { name: string; availability: { state: string } }[];
  expect(tools.find(({ name }) => name === 'runs')?.availability.state).toBe('disabled');
  expect((await upstream('enable', 'one', 'runs')).code).toBe(0);
  expect((await upstream('disable', 'one')).code).toBe(0);
  expect(JSON.parse((await upstream('list', '--json')).stdout)).toMatchObject([
    { name: 'one', source: 'operator', state: 'disabled', problems: [] },
  ]);

  const removed = await upstream('remove', 'one');
  expect(removed.stdout).toContain('The file as it was');
  expect(config()).toContain('// mine');
  expect(config()).not.toContain('"one"');
});

test('what is wrong or can not be connected is not written, and leaves no secret behind', async () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['x', '--command', 'node', '--args', '{"a": 1}'], 'JSON list of texts'],
    [['x', '--command', 'node', '--args', '["a", 1]'], 'JSON list of texts'],
    [['x', '--command', 'node', '--timeout', '0'], 'timeout_seconds'],
    [['x__y', '--command', 'node'], 'no name for a server'],
    [['x', '--command', 'node', '--url', 'https://x.example'], 'both'],
    [['x', '--command', 'node', '--root', '/'], 'roots.0'],
    [['x', '--env', 'MY_TOKEN=abc', '--', 'node', '-e', 'process.exit(3)'], 'could not be connected'],
  ];
  for (const [args, says] of wrong) {
    const answer = await upstream('add', ...args);
    expect(answer.code, args.join(' ')).not.toBe(0);
    expect(answer.stderr).toContain(says);
  }
  expect(existsSync(join(place.home, 'config.json'))).toBe(false);
  expect((await runWrit(place, ['secret', 'list'])).stdout).toContain('None');
});

test('an import that can not be written leaves the secrets as they were', async () => {
  const file = join(place.workspace, 'servers.json');
  const env = { API_TOKEN: 'very-secret-value-1' };
  writeFileSync(file, JSON.stringify({ mcpServers: { one: { command: 'node', env }, two: { command: 'node', env } } }));
  writeFileSync(join(place.home, 'config.json'), '{}\n', { mode: 0o600 });
  writeFileSync(join(place.home, 'config-backups'), 'in the way of the copy that is kept');
  await runWrit(place, ['secret', 'set', 'two.API_TOKEN'], { input: 'the old one' });
  expect((await upstream('import', file, '--no-install')).code).not.toBe(0);
  expect(config()).toBe('{}\n');
  expect((await runWrit(place, ['secret', 'list'])).stdout).not.toContain('one.API_TOKEN');
  rmSync(join(place.home, 'config-backups'));
  expect((await upstream('import', file, '--no-install')).stdout).toContain('2 written');
  expect((await runWrit(place, ['secret', 'list'])).stdout).toContain('one.API_TOKEN');
});

test('a secret comes from standard input or is typed unseen, and never from an argument', async () => {
  expect((await runWrit(place, ['secret', 'set', 'a.b'], { input: 'piped-value-77\n' })).code).toBe(0);
  const person = personAt(place, ['secret', 'set', 'typed']);
  await shows(person, 'not shown');
  person.type('typed-value-88\r');
  expect(await person.exited).toBe(0);
  expect(person.screen()).not.toContain('typed-value-88');
  const list = await runWrit(place, ['secret', 'list', '--json']);
  expect(JSON.parse(list.stdout)).toEqual([
    { name: 'a.b', readable: true },
    { name: 'typed', readable: true },
  ]);
  expect((await runWrit(place, ['secret', 'set', 'x', 'value'])).code).toBe(2);
  expect((await runWrit(place, ['secret', 'remove', 'a.b'])).code).toBe(0);
  expect((await runWrit(place, ['secret', 'remove', 'a.b'])).code).not.toBe(0);
});

test("a project's server is approved by a person who saw what it is, then its tools; not without a terminal, and not by its own host", async () => {
  mkdirSync(join(place.workspace, '.git'));
  const entry = fixture(place, 'gateway-server.mjs', ['--era', 'older'], { env: { MODE: 'careful' } });
  writeFileSync(join(place.workspace, 'writ.json'), JSON.stringify({ mcp_servers: { theirs: entry } }));
  expect((await upstream('list')).stdout).toContain('needs approval');
  const without = await upstream('approve', 'theirs');
  expect(without.code).not.toBe(0);
  expect(without.stderr).toContain('by a person at a terminal');
  expect((await upstream('disable', 'theirs')).stderr).toContain('file of this project');

  // A host with a `writ mcp` of its own, and in it a terminal that its agent types into.
  const fifo = join(place.workspace, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Open for reading and writing: it never ends by itself.
  const script = `exec 3<>"$0"; ${WRIT.map((word) => `'${word}'`).join(' ')} mcp --no-upstreams <"$0" >/dev/null 2>&1 & "$@"; exit $?`;
  const agent = personAt(place, ['upstream', 'approve', 'theirs'], [...HOST, 'sh', '-c', script, fifo]);
  expect(await agent.exited).not.toBe(0);
  expect(agent.screen()).toContain('nobody approves themselves');

  const person = personAt(place, ['upstream', 'approve', 'theirs']);
  await shows(person, 'Type "yes"');
  for (const shown of ['"node" "gateway-server.mjs"', 'MODE=careful', place.workspace, 'network']) expect(person.screen()).toContain(shown);
  person.type('yes\r');
  expect(await person.exited).toBe(0);

  const looked = JSON.parse((await upstream('test', 'theirs', '--json')).stdout);
  expect(looked.status).toMatchObject({ state: 'connected', tools: { enabled: 0 } });
  // Of another host than this test, which is the person's.
  const mcp = await startMcp(place, { argv: [...HOST, ...WRIT] });
  const again = personAt(place, ['upstream', 'approve', 'theirs', 'runs']);
  await shows(again, 'Type "yes"');
  expect(again.screen()).toContain('inputSchema');
  again.type('yes\r');
  expect(await again.exited).toBe(0);
  // The one that runs hears of it.
  await listed(mcp, 'theirs__runs');
  await mcp.end();
  expect((await upstream('deny', 'theirs')).code).toBe(0);
  expect((await upstream('list')).stdout).toContain('denied');
  expect((await upstream('revoke', 'theirs')).stdout).toContain('Forgotten');
});
