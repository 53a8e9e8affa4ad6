import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ExecId } from '../../kernel/ids.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { ContainedRun, Running, SandboxPlan } from '../core-types.ts';
import { BOUNDS } from '../jobs/admission.ts';
import { requestCancel } from '../jobs/cancel.ts';
import { endFolder, look } from '../jobs/folder.ts';
import { createJson } from '../jobs/json-file.ts';
import { FILES } from '../jobs/records.ts';
import { settle } from '../jobs/settle.ts';
import { exitedWith, fakeProcesses, makeJob, makeRun, passGate, RUNNER, STARTER, tempLayout } from '../jobs/testing.ts';
import type { RunResult } from '../types.ts';
import { createHost } from './host.ts';

const PLAN = { key: 'plan' } as unknown as SandboxPlan;

/** Carries nothing out: each start is written down, and ends when the test says so. */
function hostOf(behaviour: { plan?: () => Promise<SandboxPlan>; start?: Running['start']; doubt?: () => Promise<void> } = {}) {
  const layout = tempLayout();
  const started: ExecId[] = [];
  const warmed: string[] = [];
  const told: { exec_id: ExecId; result: RunResult }[] = [];
  const ends = new Map<ExecId, (result: RunResult) => void>();
  const start: Running['start'] = async ({ exec_id, folder }) => {
    started.push(exec_id);
    passGate(folder, exec_id);
    const done = new Promise<RunResult>((resolve) => ends.set(exec_id, resolve));
    const cancel = (reason: string): void => ends.get(exec_id)?.({ ...exitedWith(0), outcome: { state: 'cancelled', reason } });
    const run: ContainedRun = {
      exec_id,
      report: {} as never,
      write: () => true,
      resize() {},
      cancel,
      view: () => exitedWith(0).output,
      done,
    };
    return run;
  };
  let idle = 0;
  const host = createHost({
    layout,
    clock: systemClock,
    logger: silentLogger,
    self: RUNNER,
    containment: {
      probe: async () => ({}) as never,
      plan: behaviour.plan ?? (async () => PLAN),
      place: () => ({ openings: [], placed: [], stand_ins: [], clear: () => [] }),
      doubt: behaviour.doubt ?? (async () => {}),
    },
    running: {
      start: behaviour.start ?? start,
      withLimits: (report) => report,
      warm: (plan) => warmed.push(plan.key),
      close: async () => {},
    },
    onEnded: (exec_id, result) => told.push({ exec_id, result }),
    onIdle: () => {
      idle += 1;
    },
  });
  return { host, layout, started, warmed, told, end: (id: ExecId, result: RunResult) => ends.get(id)?.(result), idle: () => idle };
}

const endOf = (folder: string): unknown => {
  const sight = look(folder);
  return sight.type === 'ended' ? sight.ended.result.outcome : sight.type;
};

describe('the host of executions', () => {
  it('tells the end of a run after it is written down, prepares for the next, and tells when it idles', async () => {
    const { host, layout, told, warmed, end, idle } = hostOf();
    const { exec_id, folder } = makeRun(layout);
    await host.start('run', exec_id);
    expect(host.size()).toBe(1);
    end(exec_id, exitedWith(2));
    await expect.poll(() => told).toEqual([{ exec_id, result: exitedWith(2) }]);
    expect(endOf(folder)).toMatchObject({ exit_code: 2 });
    expect([warmed, host.size(), idle()]).toEqual([['plan'], 0, 1]);
  });

  it('starts nothing that recovery has closed, that another has taken, that is over, or that can not be read', async () => {
    const { host, layout, started } = hostOf();
    const closed = makeJob(layout);
    const processes = fakeProcesses();
    processes.dead.add(STARTER.pid);
    await settle(closed.folder, processes, 1);
    const door = makeJob(layout);
    createJson(door.folder, FILES.owner, { at: 1, holder: { type: 'closed', reason: 'x' } }, { durable: false });
    const over = makeJob(layout);
    endFolder(over.folder, 'running', exitedWith(0), 1, { durable: false });
    for (const { job_id } of [closed, door, over]) await expect(host.start('job', job_id)).rejects.toMatchObject({ code: 'internal' });
    await expect(host.start('job', '../../etc' as never)).rejects.toMatchObject({ code: 'internal' });
    await expect(host.start('run', newId<'exec'>('exec'))).rejects.toMatchObject({ code: 'internal' });
    expect(started).toEqual([]);
  });

  it('starts one execution once, though it is asked twice at the same time', async () => {
    const { host, layout, started } = hostOf();
    const { exec_id, job_id } = makeJob(layout);
    const both = await Promise.allSettled([host.start('job', job_id), host.start('job', job_id)]);
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(started).toEqual([exec_id]);
  });

  it('writes down a refusal as never started, and gives the reason to whoever asked', async () => {
    const error = new AppError('containment_unavailable', 'no bubblewrap');
    const { host, layout, told } = hostOf({ plan: () => Promise.reject(error) });
    const { exec_id, folder } = makeRun(layout);
    await expect(host.start('run', exec_id)).rejects.toBe(error);
    expect(endOf(folder)).toEqual({ state: 'never_started', reason: 'no bubblewrap' });
    expect([told, host.size()]).toEqual([[], 0]);
  });

  it('whose sandbox can not be built asks whether anything can be contained here', async () => {
    const error = new AppError('containment_unavailable', 'switched off', { fix: 'switch it on' });
    const outcome = { state: 'never_started', reason: 'bubblewrap ended' } as const;
    const unbuilt: Running['start'] = async ({ exec_id }) => ({
      exec_id,
      report: {} as never,
      never_started: true,
      write: () => false,
      resize() {},
      cancel() {},
      view: () => exitedWith(0).output,
      done: Promise.resolve({ ...exitedWith(0), outcome }),
    });
    const gone = hostOf({ start: unbuilt, doubt: () => Promise.reject(error) });
    const first = makeRun(gone.layout);
    await expect(gone.host.start('run', first.exec_id)).rejects.toBe(error);
    expect(endOf(first.folder)).toEqual({ state: 'never_started', reason: 'switched off' });

    const there = hostOf({ start: unbuilt });
    const second = makeRun(there.layout);
    await there.host.start('run', second.exec_id);
    await expect.poll(() => endOf(second.folder)).toEqual(outcome);
    // Nobody asks about one that was let through.
    const fine = hostOf({ doubt: () => Promise.reject(error) });
    await fine.host.start('run', makeRun(fine.layout).exec_id);
  });

  it('does not claim that nothing ran when something failed after the identity was recorded', async () => {
    const { host, layout, told } = hostOf({
      start: async ({ folder, exec_id }) => {
        passGate(folder, exec_id);
        throw new Error('too late');
      },
    });
    const { exec_id, folder } = makeRun(layout);
    await host.start('run', exec_id);
    expect(endOf(folder)).toEqual({ state: 'lost', reason: 'too late; it may have run' });
    expect(told).toHaveLength(1);
  });

  it('cancelled before it is planned, runs nothing', async () => {
    const plan = Promise.withResolvers<SandboxPlan>();
    const { host, layout, started } = hostOf({ plan: () => plan.promise });
    const { exec_id, folder } = makeRun(layout);
    const starting = host.start('run', exec_id);
    host.cancel(exec_id, 'changed my mind');
    plan.resolve(PLAN);
    await starting;
    expect(started).toEqual([]);
    expect(endOf(folder)).toEqual({
      state: 'cancelled',
      reason: 'changed my mind (before it was started: nothing of it ran)',
    });
  });

  it('sees the request that another process leaves in the folder of a job', async () => {
    const { host, layout } = hostOf();
    const job = makeJob(layout);
    await host.start('job', job.job_id);
    const run = makeRun(layout);
    await host.start('run', run.exec_id);
    const promoted = newId<'job'>('job');
    host.promote(run.exec_id, promoted);
    requestCancel(job.folder, 'one', 1);
    requestCancel(join(layout.jobs, promoted), 'two', 1);
    await expect.poll(() => endOf(job.folder)).toEqual({ state: 'cancelled', reason: 'one' });
    await expect.poll(() => endOf(join(layout.jobs, promoted))).toEqual({ state: 'cancelled', reason: 'two' });
  });

  it('ends runs when the client goes, and lets jobs go on, promoted ones too', async () => {
    const { host, layout, warmed, told } = hostOf();
    const [run, other] = [makeRun(layout), makeRun(layout)];
    const job = makeJob(layout);
    for (const { exec_id } of [run, other]) await host.start('run', exec_id);
    await host.start('job', job.job_id);
    const promoted = newId<'job'>('job');
    host.promote(other.exec_id, promoted);
    host.leave('gone', 'runs');
    await expect.poll(() => endOf(run.folder)).toEqual({ state: 'cancelled', reason: 'gone' });
    expect(host.size()).toBe(2);
    expect(warmed).toEqual([]);
    host.leave('really', 'all');
    await expect.poll(() => host.size()).toBe(0);
    expect(endOf(join(layout.jobs, promoted))).toEqual({ state: 'cancelled', reason: 'really' });
    // Nobody is told the end of a job: its folder is the answer.
    expect(told.map(({ exec_id }) => exec_id)).toEqual([run.exec_id]);
  });

  it('makes no job of a run when all places for jobs are taken: it stays the run it was', async () => {
    const { host, layout, end, told } = hostOf();
    for (let i = 0; i < BOUNDS.job.most; i++) makeJob(layout);
    const { exec_id, folder } = makeRun(layout);
    await host.start('run', exec_id);
    expect(() => host.promote(exec_id, newId<'job'>('job'))).toThrow(expect.objectContaining({ code: 'busy' }));
    for (const name of [FILES.job, FILES.reserve]) expect(existsSync(join(folder, name))).toBe(false);
    end(exec_id, exitedWith(0));
    await expect.poll(() => told).toHaveLength(1);
    expect(() => host.promote(exec_id, newId<'job'>('job'))).toThrow(expect.objectContaining({ code: 'not_found' }));
  });
});
