import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, makeToken, startUp } from '../helpers/up-process.ts';
import { runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';
import { fixture, gatewayPlace, listed } from './place.ts';

/** `writ upstream list|show|reconnect|logs` beside what runs. */

test('a writ mcp that works by itself is asked too, and what a killed one left is nobody', async () => {
  const place = gatewayPlace((at) => ({ one: fixture(at, 'gateway-server.mjs', ['--era', 'older', '--talk']) }));
  const upstream = (...args: readonly string[]) => runWrit(place, ['upstream', ...args]);
  try {
    const mcp = await startMcp(place);
    await listed(mcp, 'one__runs');
    expect((await upstream('reconnect', 'one')).stdout).toContain('one: connected');
    expect((await upstream('logs', 'one')).stdout.match(/talks since/g)).toHaveLength(2);
    const live = join(place.home, 'live');
    expect(readdirSync(live)).toHaveLength(1);
    mcp.child.kill('SIGKILL');
    await mcp.exited;
    expect((await upstream('logs', 'one')).stderr).toContain('Nothing runs here');
    expect(readdirSync(live)).toEqual([]);
  } finally {
    place.remove();
  }
});

test('a person sees the servers of the running writ up, what they write, and has one connected anew; without anything that runs it is said', async () => {
  const place = gatewayPlace((at) => ({ one: fixture(at, 'gateway-server.mjs', ['--era', 'older', '--talk']) }));
  const upstream = (...args: readonly string[]) => runWrit(place, ['upstream', ...args]);
  const alone = await upstream('reconnect', 'one');
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('Nothing runs here')]);
  await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
  const token = await makeToken(place, 'ci', ['-w', 'main']);
  const up = await startUp(place);
  try {
    expect((await callTool(`${up.url}/mcp`, token, 'one__runs', {})).tool()).toContain('"runs":0');
    const list = JSON.parse((await upstream('list', '--json')).stdout);
    expect(list).toMatchObject([{ name: 'one', state: 'may start', live: { state: 'connected', restarts: 0, tools: { disabled: 0 } } }]);
    expect((await upstream('show', 'one')).stdout).toMatch(/one: connected, \d+ tools as .*\n {2}since \d{4}-.*Z, 0 restarts/);

    const [command, ...base] = WRIT;
    const follower = spawn(command, [...base, 'upstream', 'logs', 'one', '--follow', '-n', '1'], { env: place.env, cwd: place.workspace });
    let followed = '';
    follower.stdout.setEncoding('utf8').on('data', (text: string) => {
      followed += text;
    });
    await expect.poll(() => followed, { timeout: 30_000 }).toContain('talks since');
    expect((await upstream('reconnect', 'one')).stdout).toContain('one: connected');
    // Another process, seen as it writes.
    await expect.poll(() => new Set(followed.match(/talks since \d+/g)).size, { timeout: 30_000 }).toBe(2);
    const ended = new Promise((resolve) => follower.on('exit', resolve));
    follower.kill('SIGINT');
    expect(await ended).toBe(0);
    expect((await upstream('logs', 'one')).stdout.split('\n').filter((line) => line.startsWith('talks since'))).toHaveLength(2);
    expect((await upstream('logs', 'one', '-n', '501')).code).toBe(2);
    expect((await upstream('reconnect', 'two')).stderr).toContain('No MCP server');
  } finally {
    await up.end();
    place.remove();
  }
});
