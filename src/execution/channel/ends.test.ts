import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createExecution } from '../index.ts';
import { createProcesses } from '../jobs/running-processes.ts';
import { judge } from '../running/identity.ts';
import { readIdentity } from '../running/identity-file.ts';
import { MARKER_VARIABLE } from '../running/launcher.ts';
import { membersOf, pidNamespaceOf } from '../running/proc.ts';
import { until } from '../running/testing.ts';
import type { ProcessIdentity } from '../types.ts';
import { sweepChannels } from './records.ts';
import { type Booth, makeBooth, NODE, SYSTEM_PATH, sees } from './testing.ts';

let booth: Booth;
beforeAll(() => {
  booth = makeBooth();
});
afterAll(() => booth.close());

/** Ignores the end of its input and TERM, and so do its children: one forked, one forked twice, one in a session of its own. */
const STUBBORN = `
trap "" TERM HUP INT
(while :; do sleep 1; done) &
( (while :; do sleep 1; done) & ) &
setsid --fork bash -c 'trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null >/dev/null 2>&1
echo up
while :; do sleep 1; done`;

const records = (): readonly string[] => readdirSync(join(booth.bed.config.home, 'channels'));

it.each([
  ['goes when its input ends', 'echo up; cat >/dev/null; exit 3', { exit_code: 3 }, 10_000],
  ['goes when it is told to', 'trap "exit 5" TERM; echo up; while :; do sleep 0.05; done', { exit_code: 5 }, 1_500],
  ['does not go', STUBBORN, { signal: 'SIGKILL', exit_code: 137 }, 50],
])('closes one that %s', async (_, script, expected, grace_ms) => {
  const channel = await booth.connect(script);
  await sees(channel.stdout, 'up');
  const namespace = pidNamespaceOf(channel.identity.pid) ?? '';
  expect(membersOf(namespace)?.length).toBeGreaterThan(1);
  expect(readIdentity(join(booth.bed.config.home, 'channels', channel.exec_id))).toMatchObject({ init: channel.identity });
  const [end, again] = await Promise.all([channel.close(grace_ms), channel.close(grace_ms)]);
  expect(end).toMatchObject({ cause: 'closed', ...expected, teardown: { verified: true, method: 'namespace_init_gone', survivors: [] } });
  expect(again).toBe(end);
  expect(membersOf(namespace)).toEqual([]);
  expect(judge(channel.identity)).not.toBe('OWNED');
  expect(records()).not.toContain(channel.exec_id);
});

it('a shorter grace of a later call counts', async () => {
  const channel = await booth.connect(STUBBORN);
  await sees(channel.stdout, 'up');
  void channel.close(3_600_000);
  expect(await channel.close(0)).toMatchObject({ cause: 'closed', signal: 'SIGKILL' });
});

it('ends what is being started when nobody wants it any more', async () => {
  const wanted = new AbortController();
  const connecting = booth.connect('echo up; exec sleep 1000', {}, wanted.signal);
  wanted.abort();
  await expect(connecting).rejects.toMatchObject({ code: 'cancelled' });
  await until(() => records().length === 0);
  await expect(booth.connect('true', {}, wanted.signal)).rejects.toMatchObject({ code: 'cancelled' });
});

it('all of them end with the room, and none comes after', async () => {
  const execution = createExecution(booth.bed.config, { clock: systemClock, logger: silentLogger });
  const spec = {
    name: 'upstream:test',
    argv: ['bash', '-c', STUBBORN],
    env: { PATH: SYSTEM_PATH },
    roots: [],
    network: 'none',
    unix_sockets: [],
    limits: booth.bed.config.limits,
  } as const;
  expect(execution.findProgram(spec)).toMatchObject({ ok: true, path: expect.stringMatching(/\/bash$/) });
  const { signal } = new AbortController();
  const two = await Promise.all([execution.connect(spec, signal), execution.connect({ ...spec, name: 'upstream:other' }, signal)]);
  const ended = Promise.all(two.map((one) => one.ended));
  await execution.close();
  for (const end of await ended) expect(end).toMatchObject({ cause: 'closed', teardown: { verified: true } });
  await expect(execution.connect(spec, signal)).rejects.toMatchObject({ code: 'cancelled' });
});

let supervisor: ChildProcess | undefined;
afterEach(() => void supervisor?.kill('SIGKILL'));

/** A process of its own that has connected this; it is killed and closes nothing. */
async function supervised(script: string, uncontained = false): Promise<ProcessIdentity> {
  const code = `
    const [{ createExecution }, { systemClock }, { silentLogger }] = await Promise.all(['index.ts', '../kernel/clock.ts', '../kernel/logger.ts']
      .map((file) => import(new URL(file, ${JSON.stringify(new URL('../', import.meta.url).href)}).href)));
    const config = ${JSON.stringify(booth.bed.config)};
    const execution = createExecution(config, { clock: systemClock, logger: silentLogger });
    const channel = await execution.connect({
      name: 'upstream:test', argv: ['bash', '-c', ${JSON.stringify(script)}], env: { PATH: '${SYSTEM_PATH}' }, roots: [], network: 'none',
      unix_sockets: [], limits: config.limits, ${uncontained ? 'uncontained: true' : ''} }, new AbortController().signal);
    channel.stdout.once('data', () => console.log(JSON.stringify(channel.identity)));`;
  const child = spawn(NODE, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  supervisor = child;
  let said = '';
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  await until(() => said.includes('\n'));
  const identity = JSON.parse(said) as ProcessIdentity;
  expect(judge(identity)).toBe('OWNED');
  return identity;
}

it('a killed supervisor leaves nothing behind but a record, and the next start takes that away', async () => {
  const identity = await supervised(STUBBORN);
  const namespace = pidNamespaceOf(identity.pid) ?? '';
  supervisor?.kill('SIGKILL');
  await until(() => judge(identity) !== 'OWNED' && membersOf(namespace)?.length === 0);
  expect(records()).toHaveLength(1);
  await sweepChannels(booth.bed.config.home, createProcesses(booth.bed.config.home, systemClock), Date.now());
  expect(records()).toEqual([]);
});

it('without containment it is the next start that ends what was left', async () => {
  const identity = await supervised('trap "" TERM HUP; echo up; while :; do sleep 1; done', true);
  supervisor?.kill('SIGKILL');
  await until(() => supervisor?.signalCode === 'SIGKILL');
  expect(judge(identity)).toBe('OWNED');
  const swept = await sweepChannels(booth.bed.config.home, createProcesses(booth.bed.config.home, systemClock), Date.now());
  expect(swept).toBeGreaterThan(0);
  expect(judge(identity)).not.toBe('OWNED');
  expect(records()).toEqual([]);
});

it('what died before its identity was written is found by its marker; what lives is left alone', async () => {
  const { home } = booth.bed.config;
  const processes = createProcesses(home, systemClock);
  const record = (id: string, about: object | undefined): void => {
    mkdirSync(join(home, 'channels', id), { recursive: true });
    if (about) writeFileSync(join(home, 'channels', id, 'about.json'), JSON.stringify(about));
  };
  const left = newId('exec');
  const ours = newId('exec');
  const later = newId('exec');
  const empty = newId('exec');
  const { pid, boot_id } = processes.self();
  record(left, { version: 1, name: 'x', at: 1, supervisor: { pid, boot_id, start: '1' } });
  record(ours, { version: 1, name: 'x', at: 1, supervisor: processes.self() });
  record(later, { version: 9, what: 'ever' });
  record(empty, undefined);
  const waiting = spawn('/bin/sleep', ['1000'], { env: { [MARKER_VARIABLE]: left }, stdio: 'ignore' });
  const mine = spawn('/bin/sleep', ['1000'], { env: { [MARKER_VARIABLE]: ours }, stdio: 'ignore' });
  try {
    expect(await sweepChannels(home, processes, Date.now())).toBe(1);
    await until(() => waiting.signalCode === 'SIGKILL');
    expect(mine.exitCode ?? mine.signalCode).toBeNull();
    expect(records().toSorted()).toEqual([ours, later, empty].toSorted());
    // A folder that nobody wrote anything into belongs to nobody after a while.
    await sweepChannels(home, processes, Date.now() + 3_600_000);
    expect(existsSync(join(home, 'channels', empty))).toBe(false);
  } finally {
    waiting.kill('SIGKILL');
    mine.kill('SIGKILL');
  }
});
