import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createExecution } from '../../src/execution/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { makePlace, NEVER, OWNER, type Place, runnerOf } from './place.ts';

/** What the network of a run and its openings are through the real runner process. */
let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const NETWORK = { hosts: ['www.example.com'], presets: [] } as const;
const alive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

async function freePort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Answers every connection with a line; perl belongs to every Debian. */
const greeter = (port: number): string => String.raw`exec perl -MIO::Socket::IP -e '
  $| = 1; $s = IO::Socket::IP->new(Listen => 50, LocalAddr => "127.0.0.1", LocalPort => ${port}) or die $@; print "up\n";
  while ($c = $s->accept) { while (<$c>) { last if /^\r$/ } print $c "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"; close $c; }'`;

it('a refusal is in the result and in the record of the run', async () => {
  const execution = place.execution();
  const result = await execution.run(place.spec('curl -sS http://other.example.net/', { network: NETWORK }), NEVER);
  expect(result.output.stdout.head).toBe('writ: refused other.example.net:80 (not in the allow-list); ask by naming it in the command\n');
  expect(result.receipt?.network?.refused).toEqual([
    { host: 'other.example.net', port: 80, connections: 1, reason: 'not in the allow-list' },
  ]);
  const plain = await execution.run(place.spec('env | grep -ic proxy'), NEVER);
  expect(plain.output.stdout.head).toBe('0\n');
  expect(plain.receipt?.network).toBeUndefined();
});

it('the proxy goes along when a run becomes a job', async () => {
  const execution = place.execution();
  const handle = await execution.start(
    place.spec('until [ -e go ]; do sleep 0.05; done; curl -sS http://other.example.net/', { network: NETWORK }),
    NEVER,
  );
  const job = await handle.promote();
  await execution.close();
  writeFileSync(join(place.workspace, 'go'), '');
  const later = place.execution();
  await expect.poll(async () => (await later.jobs.get(job.job_id))?.state, { timeout: 20_000 }).toBe('exited');
  const record = await later.jobs.get(job.job_id);
  expect(record?.receipt?.network?.refused).toHaveLength(1);
});

it('a job publishes its port, says so, and frees it with its end', async () => {
  const execution = place.execution();
  const port = await freePort();
  const job = await execution.jobs.start(place.spec(greeter(port), { ports: [port] }), NEVER);
  expect(job.ports).toEqual([port]);
  const output = (): Promise<string> =>
    execution.jobs.output(job.job_id, { cursor: 0, max_bytes: 100, wait_ms: 5_000 }, NEVER).then((page) => page?.chunks[0]?.text ?? '');
  await expect.poll(output, { timeout: 20_000 }).toBe('up\n');
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello');
  // The port of a job that goes on is taken for the next.
  await expect(execution.jobs.start(place.spec('true', { ports: [port] }), NEVER)).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringContaining(`Port ${port} of this machine can't be used: it is in use`),
  });
  expect(await execution.jobs.list(OWNER)).toHaveLength(1);
  await execution.jobs.cancel(job.job_id, 'done');
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  await expect(execution.jobs.start(place.spec('true', { ports: [80] }), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
});

it('a port of the host that the operator opened is inside, warm sandboxes included', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nfrom the host\n'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const execution = createExecution({ ...place.config(), loopback: [port] }, { clock: systemClock, logger: silentLogger });
  try {
    for (let round = 0; round < 3; round++) {
      const result = await execution.run(place.spec(`curl -sS http://127.0.0.1:${port}/`), NEVER);
      expect(result.output.combined.head).toBe('from the host\n');
    }
  } finally {
    await execution.close();
    server.close();
  }
});

it('a file outside that a yes opened is made, and gone again when it was not used', async () => {
  const execution = place.execution();
  const path = join(dirname(place.workspace), 'outside.txt');
  const openings = [{ path, access: 'write' }] as const;
  expect((await execution.run(place.spec('true', { openings }), NEVER)).outcome).toEqual({ state: 'exited', exit_code: 0 });
  expect(existsSync(path)).toBe(false);
  await execution.run(place.spec(`echo written > ${path}`, { openings }), NEVER);
  expect(readFileSync(path, 'utf8')).toBe('written\n');
  await expect(execution.run(place.spec('true', { openings: [{ path: '/nowhere/x', access: 'write' }] }), NEVER)).rejects.toMatchObject({
    code: 'invalid_arguments',
  });
});

it('what was made for an opening goes when the runner is killed, too', async () => {
  const execution = place.execution();
  const path = join(dirname(place.workspace), 'outside.txt');
  const handle = await execution.start(place.spec('sleep 300', { openings: [{ path, access: 'write' }] }), NEVER);
  expect(existsSync(path)).toBe(true);
  process.kill(runnerOf(join(place.home, 'runs', handle.exec_id)), 'SIGKILL');
  await handle.done;
  expect(existsSync(path)).toBe(false);
});

it('without containment: for one foreground run, and never as a job', async () => {
  const execution = place.execution();
  const uncontained = true;
  const result = await execution.run(place.spec('readlink /proc/self/ns/net', { uncontained }), NEVER);
  expect(result.output.stdout.head.trim()).toBe((await import('node:fs')).readlinkSync('/proc/self/ns/net'));
  expect(result.receipt?.containment.backend).toBe('none');
  await expect(execution.jobs.start(place.spec('true', { uncontained }), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
  const handle = await execution.start(place.spec('sleep 300', { uncontained }), NEVER);
  await expect(handle.promote()).rejects.toMatchObject({ code: 'invalid_arguments' });
  handle.cancel('enough');
  await handle.done;
});

it('without containment, and its runner is killed: nothing of it is left', async () => {
  const execution = place.execution();
  const handle = await execution.start(place.spec('setsid sleep 300 & echo $! > pid; sleep 300', { uncontained: true }), NEVER);
  await expect.poll(() => place.lines('pid')).toHaveLength(1);
  const pid = Number(place.lines('pid')[0]);
  process.kill(runnerOf(join(place.home, 'runs', handle.exec_id)), 'SIGKILL');
  const result = await handle.done;
  expect(result?.outcome.state).toBe('lost');
  expect(alive(pid)).toBe(false);
});
