import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startUp, type UpProcess } from '../helpers/up-process.ts';
import { type McpProcess, makePlace, type Place, startMcp } from '../helpers/writ-process.ts';

let place: Place;
let up: UpProcess | undefined;
let mcp: McpProcess | undefined;

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await mcp?.end();
  await up?.end();
  mcp = undefined;
  up = undefined;
  place.remove();
});

const exists = (name: string): boolean => existsSync(join(place.workspace, name));
const appears = (name: string): Promise<void> => expect.poll(() => exists(name), { timeout: 30_000 }).toBe(true);

/** In pieces, so that this very file on a command line isn't found. */
const SLEEP = ['sleep', '30017'].join('\0');

/** Processes whose command line holds a text. */
function running(text: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  }).length;
}

test('writ mcp relays to writ up: its own folder, environment and Run, and its foreground calls end with it', async () => {
  up = await startUp(place);
  mcp = await startMcp({ ...place, env: { ...place.env, TZ: 'Antarctica/Troll' } });
  const first = await mcp.call('shell', { command: 'echo "$TZ in $PWD"' });
  expect(first.structured['stdout']).toBe(`Antarctica/Troll in ${place.workspace}\n`);
  const big = await mcp.call('shell', { command: 'seq 1 60000' });
  expect(big.structured).toMatchObject({ exit_code: 0, truncated: true, total_bytes: { stdout: 348_894 } });

  const other = await startMcp(place, { args: ['--root', place.workspace] });
  const forty = Array.from({ length: 20 }, (_, index) => index);
  const answers = await Promise.all(
    forty.flatMap((index) => [mcp, other].map((each) => each?.call('shell_output', { id: `exec_${index}`, cursor: 0 }))),
  );
  expect(answers.map((answer) => /"exec_(\d+)"/.exec(answer?.text ?? '')?.[1])).toEqual(forty.flatMap((index) => [`${index}`, `${index}`]));

  // The relay is killed: nobody waits for its call any more.
  other.call('shell', { command: 'touch began; sleep 30017' }).catch(() => {});
  await appears('began');
  await expect.poll(() => running(SLEEP), { timeout: 30_000 }).toBeGreaterThan(0);
  other.child.kill('SIGKILL');
  await expect.poll(() => running(SLEEP), { timeout: 30_000 }).toBe(0);
  expect(await mcp.end()).toBe(0);
  expect(mcp.stderr()).toBe('');
});

test('writ up is killed in the middle: what was open is answered with an error that says so, the agent goes on', async () => {
  up = await startUp(place);
  mcp = await startMcp(place);
  await mcp.call('shell', { command: 'true' });
  const open = mcp.call('shell', { command: 'touch began; sleep 300' });
  const told = expect(open).rejects.toThrow(/`writ up`.*has ended.*not known/);
  await appears('began');
  up.child.kill('SIGKILL');
  await told;
  const next = await mcp.call('shell', { command: 'echo again' });
  expect(next).toMatchObject({ isError: false, structured: { stdout: 'again\n' } });
  expect(((await mcp.ask('tools/list'))['tools'] as unknown[]).length).toBeGreaterThan(5);
  expect(mcp.stderr()).toContain('this process goes on without it');

  // The socket that it left behind is nobody's: the next one takes its place, and serves whoever comes.
  expect(existsSync(join(place.home, 'writ.sock'))).toBe(true);
  const again = await startUp(place);
  const late = await startMcp(place);
  expect((await late.call('shell', { command: 'echo late' })).structured['stdout']).toBe('late\n');
  await again.end();
  expect((await late.call('shell', { command: 'echo later' })).structured['stdout']).toBe('later\n');
  expect(late.stderr()).toContain('goes on without it');
  expect(await late.end()).toBe(0);
});

test('a socket that answers something else, or nothing, is no reason not to start', async () => {
  mcp = await startMcp(place);
  expect(await mcp.end()).toBe(0);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('{"ok":false,"message":"`writ up` is version 9"}\n'));
  });
  await new Promise<void>((resolve) => server.listen(join(place.home, 'writ.sock'), resolve));
  mcp = await startMcp(place);
  expect((await mcp.call('shell', { command: 'echo alone' })).structured['stdout']).toBe('alone\n');
  expect(mcp.stderr()).toContain('is version 9');
  server.close();
  writeFileSync(join(place.home, 'writ.sock'), 'no socket at all');
  await mcp.end();
  mcp = await startMcp(place);
  expect((await mcp.call('shell', { command: 'echo alone' })).structured['stdout']).toBe('alone\n');
  await mcp.end();
});
