import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place, runWrit } from '../helpers/writ-process.ts';
import { fixture } from './place.ts';

/** `writ mcp|up --strict`, and `writ tools`, as a person types them. */

let place: Place;
beforeEach(() => {
  place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  mkdirSync(join(place.workspace, '.git'));
});
afterEach(() => place.remove());

/** Whoever starts it leaves a file behind. */
const leaves = (file: string): object => ({
  command: 'node',
  args: ['-e', `require('fs').writeFileSync(${JSON.stringify(join(place.workspace, file))}, '')`],
  roots: [{ path: place.workspace, access: 'write' }],
  network: 'none',
});

function configure(mcp_servers: object): void {
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcp_servers }), { mode: 0o600 });
}

test('--strict ends with 3 before anything is started, and says of each server why and what to do', async () => {
  configure({
    good: leaves('started'),
    wrong: { command: 'node', timeout_seconds: 0 },
    secretive: { command: 'node', env: { TOKEN: `\${secret:nobody.has.it}` } },
    unseen: { ...leaves('started'), require_approval: true },
    off: { command: 'node', timeout_seconds: 0, enabled: false },
  });
  writeFileSync(join(place.workspace, 'writ.json'), JSON.stringify({ mcp_servers: { theirs: leaves('started') } }));
  const mcp = await runWrit(place, ['mcp', '--strict']);
  expect(mcp).toMatchObject({ code: 3, stdout: '' });
  for (const said of [
    '"wrong": ',
    'timeout_seconds',
    '"secretive": ',
    'writ secret set nobody.has.it',
    '"unseen": ',
    'writ upstream test unseen',
    '"theirs": ',
    'writ upstream approve theirs',
  ])
    expect(mcp.stderr).toContain(said);
  for (const quiet of ['"good"', '"off"']) expect(mcp.stderr).not.toContain(quiet);

  // A project says nothing about the server of a machine.
  const up = await runWrit(place, ['up', '--strict', '--port', '0']);
  expect(up).toMatchObject({ code: 3, stdout: '' });
  expect(up.stderr).not.toContain('theirs');
  expect(existsSync(join(place.workspace, 'started'))).toBe(false);

  configure({ fine: fixture(place, 'gateway-server.mjs', ['--era', 'older']) });
  writeFileSync(join(place.workspace, 'writ.json'), '{}');
  expect((await runWrit(place, ['mcp', '--strict'])).code).toBe(0);
});

test('a tool that waits for an answer is missing with --strict, and writ tools says so', async () => {
  configure({ one: fixture(place, 'gateway-server.mjs', ['--era', 'older'], { require_approval: true }) });
  const listed = await runWrit(place, ['tools', '--json']);
  expect(listed.stderr).toContain('waits for approval: one__elicit');
  expect(JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name)).not.toContain('one__elicit');
  const strict = await runWrit(place, ['mcp', '--strict']);
  expect(strict.code).toBe(3);
  expect(strict.stderr).toContain('writ upstream approve one');
  expect((await runWrit({ ...place, env: { ...place.env, WRIT_APPROVE_MCP: '1' } }, ['mcp', '--strict'])).code).toBe(0);
});

test('writ tools prints what an agent gets in the form of each API, with names that it takes', async () => {
  configure({
    one: fixture(place, 'gateway-server.mjs', ['--era', 'modern'], { disabled_tools: ['big'] }),
    gone: { command: 'node', args: ['-e', 'process.exit(3)'], network: 'none' },
  });
  const openai = await runWrit(place, ['tools', '--format', 'openai', '--all']);
  expect(openai.code).toBe(0);
  expect(openai.stderr).toContain('without the tools of "gone" (failed)');
  const functions = JSON.parse(openai.stdout) as { type: string; function: { name: string; parameters: { type: string } } }[];
  const names = functions.map((each) => each.function.name);
  expect(names).toEqual(expect.arrayContaining(['shell', 'read_file', 'one__elicit']));
  expect(names).not.toContain('one__big');
  for (const each of functions) {
    expect(each).toMatchObject({ type: 'function', function: { parameters: { type: 'object' } } });
    expect(each.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  }
  expect((await runWrit(place, ['tools', '--format', 'grpc'])).code).toBe(2);
});
