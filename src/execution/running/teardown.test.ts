import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identify } from './identity.ts';
import { membersOf, pidNamespaceOf } from './proc.ts';
import { endTree } from './teardown.ts';
import { type Bench, makeBench, until } from './testing.ts';

let bench: Bench;
beforeAll(() => {
  bench = makeBench();
});
afterAll(() => bench.close());

describe('ending a run', () => {
  it('ends 500 sessions that ignore TERM, and proves it', async () => {
    const limits = { ...bench.plan.limits, pids: 1200 };
    const command = 'trap "" TERM; for ((i = 0; i < 500; i++)); do setsid sleep 600 & done; echo up; wait';
    const run = await bench.start(command, { plan: { ...bench.plan, limits } });
    await until(() => run.view().stdout.head.includes('up'));
    run.cancel('stop');
    const { outcome, receipt } = await run.done;
    expect(outcome.state).toBe('cancelled');
    expect(receipt?.teardown).toMatchObject({ verified: true, method: 'namespace_init_gone', survivors: [] });
    expect(membersOf(receipt?.pid_namespace ?? '')).toEqual([]);
  });

  it('gives a TERM handler its time, and keeps what it prints', async () => {
    const run = await bench.start('trap "sleep 0.2; echo cleaned; exit 0" TERM; echo up; sleep 600 & wait');
    await until(() => run.view().stdout.head.includes('up'));
    run.cancel('stop');
    const { outcome, output } = await run.done;
    expect(outcome.state).toBe('cancelled');
    expect(output.stdout.head).toBe('up\ncleaned\n');
  });

  it('is asked for once: the first reason counts, and none after the end', async () => {
    const run = await bench.start('sleep 600');
    run.cancel('first');
    run.cancel('second');
    expect((await run.done).outcome).toEqual({ state: 'cancelled', reason: 'first' });
    run.cancel('third');
    expect((await run.done).outcome).toEqual({ state: 'cancelled', reason: 'first' });
  });

  it('is not put off by output', async () => {
    const { outcome, output } = await bench.run('yes', { spec: { timeout_ms: 400 } });
    expect(outcome).toEqual({ state: 'timed_out', exit_code: 124 });
    expect(output.stdout.total_bytes).toBeGreaterThan(1_000_000);
  });

  it('says never_started with the complaint when the sandbox can not be built', async () => {
    const plan = { ...bench.plan, args: [...bench.plan.args, '--chdir', '/does/not/exist'] };
    const { outcome, receipt } = await bench.run('touch ran', { plan });
    expect(outcome).toMatchObject({ state: 'never_started', reason: expect.stringContaining('/does/not/exist') });
    expect(receipt).toBeUndefined();
    const missing = await bench.run('touch ran', { plan: { ...bench.plan, bwrap: '/does/not/exist' } });
    expect(missing.outcome).toMatchObject({ state: 'never_started', reason: expect.stringContaining('ENOENT') });
  });

  it('notices that bubblewrap was killed by somebody else', async () => {
    const run = await bench.start('echo up; sleep 600');
    await until(() => run.view().stdout.head.includes('up'));
    const namespace = membersOfRun();
    process.kill(namespace.outer, 'SIGKILL');
    const { outcome, receipt } = await run.done;
    expect(outcome).toEqual({ state: 'exited', exit_code: 137, signal: 'SIGKILL' });
    expect(receipt?.teardown.verified).toBe(true);
  });
});

/** The one run under way, found the way an outsider would. */
function membersOfRun(): { outer: number } {
  const mine = (membersOf(pidNamespaceOf('self') ?? '') ?? []).filter((pid) => identify(pid) !== undefined);
  const outer = mine.find((pid) => isBwrapOf(pid));
  if (outer === undefined) throw new Error('no bubblewrap of this test is running');
  return { outer };
}

function isBwrapOf(pid: number): boolean {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  try {
    const [, ppid] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(ppid) === process.pid && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bwrap\n';
  } catch {
    return false;
  }
}

describe('endTree', () => {
  it('leaves a process alone that only has the number of the recorded one', async () => {
    const stranger = spawn('sleep', ['600']);
    const identity = identify(stranger.pid ?? 0);
    if (identity === undefined) throw new Error('no identity');
    const report = await endTree({ init: { ...identity, start: '1' }, pid_namespace: 'pid:[1]' }, () => performance.now());
    expect(report).toMatchObject({ verified: true, method: 'namespace_init_gone' });
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
    const killed = new Promise((resolve) => stranger.on('exit', (_, signal) => resolve(signal)));
    await endTree({ init: identity, pid_namespace: 'pid:[1]' }, () => performance.now());
    expect(await killed).toBe('SIGKILL');
  });
});
