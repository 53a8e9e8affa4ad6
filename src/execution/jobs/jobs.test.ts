import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { cancelRequested } from './cancel.ts';
import { endFolder, isEnded } from './folder.ts';
import { createJobs, type Launch } from './jobs.ts';
import type { Layout } from './layout.ts';
import { FILES } from './records.ts';
import { exitedWith, fakeProcesses, makeJob, OWNER, passGate, RUNNER, STARTER, specOf, takeBy, tempLayout } from './testing.ts';

const never = new AbortController().signal;

/** A spool without an index: the log as one stream. */
async function plainSpool(folder: string, request: { cursor: number; max_bytes: number; over: boolean }) {
  const all = existsSync(join(folder, FILES.output)) ? readFileSync(join(folder, FILES.output), 'utf8') : '';
  const text = all.slice(request.cursor, request.cursor + request.max_bytes);
  const next_cursor = request.cursor + text.length;
  const chunks = text === '' ? [] : [{ stream: 'stdout' as const, text }];
  return { cursor: request.cursor, next_cursor, chunks, end: request.over && next_cursor >= all.length, dropped_bytes: 0 };
}

function jobsIn(
  layout: Layout,
  launch: (folder: string) => Promise<Launch> = async () => ({ type: 'started' }),
  processes = fakeProcesses(),
) {
  const jobs = createJobs({ layout, clock: systemClock, processes, readSpool: plainSpool, launch: (id) => launch(join(layout.jobs, id)) });
  return { jobs, processes };
}

/** A runner that takes it and lets it through the gate. */
const launched =
  (layout: Layout) =>
  async (folder: string): Promise<Launch> => {
    void layout;
    takeBy(folder);
    passGate(folder, makeJob(tempLayout()).exec_id);
    return { type: 'started' };
  };

describe('starting a job', () => {
  it('is recorded before a runner hears of it', async () => {
    const layout = tempLayout();
    let seen: string[] = [];
    const { jobs } = jobsIn(layout, async (folder) => {
      seen = readdirSync(folder);
      return launched(layout)(folder);
    });
    const record = await jobs.start(specOf({ command: 'sleep 1', description: 'nap' }), never);
    expect(seen.sort()).toEqual([FILES.job, FILES.reserve, FILES.spec].sort());
    expect(record).toMatchObject({ state: 'running', command: 'sleep 1', description: 'nap', owner: OWNER, total_bytes: 0 });
    expect(await jobs.get(record.job_id)).toEqual(record);
  });

  it('that is refused leaves nothing and gives the reason', async () => {
    const layout = tempLayout();
    const error = new AppError('containment_unavailable', 'no bubblewrap', { fix: 'install it' });
    const { jobs } = jobsIn(layout, async () => ({ type: 'refused', error }));
    await expect(jobs.start(specOf(), never)).rejects.toBe(error);
    expect(readdirSync(layout.jobs)).toEqual([]);
  });

  it('whose runner died before it took it never started; behind the gate it is lost', async () => {
    const layout = tempLayout();
    const early = jobsIn(layout, async () => ({ type: 'gone', reason: 'it fell over' }));
    expect(await early.jobs.start(specOf(), never)).toMatchObject({ state: 'never_started', reason: 'it fell over' });
    const late = jobsIn(layout, async (folder) => {
      await launched(layout)(folder);
      return { type: 'gone', reason: 'it fell over' };
    });
    late.processes.dead.add(RUNNER.pid);
    expect(await late.jobs.start(specOf(), never)).toMatchObject({ state: 'lost', reason: expect.stringContaining('PID 1002') });
  });

  it('that is cancelled meanwhile leaves the request for the runner and is answered as cancelled', async () => {
    const layout = tempLayout();
    const controller = new AbortController();
    const { jobs } = jobsIn(layout, async (folder) => {
      takeBy(folder);
      controller.abort();
      expect(cancelRequested(folder)).toMatch(/cancelled/);
      endFolder(folder, 'starting', { ...exitedWith(0), outcome: { state: 'never_started', reason: 'x' } }, 1, { durable: false });
      return { type: 'started' };
    });
    await expect(jobs.start(specOf(), controller.signal)).rejects.toMatchObject({ code: 'cancelled' });
    expect(await jobs.takeEnded(OWNER)).toEqual([]);
    await expect(jobs.start(specOf(), controller.signal)).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('takes the place of one whose owner is gone', async () => {
    const layout = tempLayout();
    const { jobs, processes } = jobsIn(layout, launched(layout));
    for (let i = 0; i < 32; i++) await jobs.start(specOf(), never);
    await expect(jobs.start(specOf(), never)).rejects.toMatchObject({ code: 'busy' });
    processes.dead.add(RUNNER.pid);
    expect(await jobs.start(specOf(), never)).toMatchObject({ job_id: expect.any(String) });
  });
});

describe('jobs', () => {
  it('are listed newest first to the agent they belong to, damaged ones too', async () => {
    const layout = tempLayout();
    const { jobs } = jobsIn(layout);
    const first = makeJob(layout, {}, 1_700_000_000_000);
    const second = makeJob(layout, {}, 1_700_000_001_000);
    makeJob(layout, { owner: { ...OWNER, agent: 'agent_b' } });
    writeFileSync(join(first.folder, FILES.spec), '{}');
    expect((await jobs.list(OWNER)).map(({ job_id, state }) => [job_id, state])).toEqual([
      [second.job_id, 'starting'],
      [first.job_id, 'unreadable'],
    ]);
    expect((await jobs.list({ organization: OWNER.organization })).map(({ owner }) => owner.agent)).toEqual(
      expect.arrayContaining([OWNER.agent, OWNER.agent, 'agent_b']),
    );
    expect(await jobs.list({ organization: 'org_other' })).toEqual([]);
  });

  it('are found by nothing but an id', async () => {
    const { jobs } = jobsIn(tempLayout());
    for (const id of ['', '../x', 'job_1', '.']) {
      expect(await jobs.get(id)).toBeUndefined();
      expect(await jobs.cancel(id, 'x')).toBeUndefined();
      expect(await jobs.output(id, { cursor: 0, max_bytes: 10, wait_ms: 0 }, never)).toBeUndefined();
      await jobs.markDelivered(id, OWNER);
    }
  });

  it('tell their end once, to the run that started them, whoever asks', async () => {
    const layout = tempLayout();
    const [one, two] = [jobsIn(layout).jobs, jobsIn(layout).jobs];
    const { folder, job_id } = makeJob(layout);
    expect(await one.takeEnded(OWNER)).toEqual([]);
    endFolder(folder, 'running', exitedWith(0), 5, { durable: true });
    expect(await one.takeEnded({ ...OWNER, run: 'run_b' })).toEqual([]);
    const told = await Promise.all([one.takeEnded(OWNER), two.takeEnded(OWNER), one.takeEnded(OWNER)]);
    expect(told.flat()).toMatchObject([{ job_id, state: 'exited', ended_at: 5 }]);
    expect(await two.takeEnded(OWNER)).toEqual([]);
    expect((await one.get(job_id))?.announced_at).toBeGreaterThan(0);
  });

  it('are delivered only when over, and need no announcement to the run that has read them', async () => {
    const OTHER = { ...OWNER, run: 'run_b' };
    const layout = tempLayout();
    const { jobs } = jobsIn(layout);
    const { folder, job_id } = makeJob(layout);
    await jobs.markDelivered(job_id, OTHER);
    expect((await jobs.get(job_id))?.delivered_at).toBeUndefined();
    endFolder(folder, 'running', exitedWith(0), 5, { durable: true });
    await jobs.markDelivered(job_id, OTHER);
    expect((await jobs.get(job_id))?.delivered_at).toBeGreaterThan(0);
    expect((await jobs.get(job_id))?.announced_at).toBeUndefined();
    await jobs.markDelivered(job_id, OWNER);
    expect(await jobs.takeEnded(OWNER)).toEqual([]);
  });
});

describe('waiting for output', () => {
  const ask = { cursor: 0, max_bytes: 1_000, wait_ms: 20_000 };

  it('ends with the first output, with the end, or when nobody waits any more', async () => {
    const layout = tempLayout();
    const { jobs } = jobsIn(layout);
    const { folder, job_id } = makeJob(layout);
    const first = jobs.output(job_id, ask, never);
    appendFileSync(join(folder, FILES.output), 'hello');
    expect(await first).toMatchObject({ chunks: [{ text: 'hello' }], next_cursor: 5, end: false });

    const controller = new AbortController();
    const aborted = jobs.output(job_id, { ...ask, cursor: 5 }, controller.signal);
    controller.abort();
    expect(await aborted).toMatchObject({ chunks: [], end: false });

    const last = jobs.output(job_id, { ...ask, cursor: 5 }, never);
    endFolder(folder, 'running', exitedWith(0, 5), 5, { durable: true });
    expect(await last).toMatchObject({ chunks: [], next_cursor: 5, end: true });
    expect(await jobs.output(job_id, ask, never)).toMatchObject({ chunks: [{ text: 'hello' }], end: true });
  });

  it('answers at once when nothing may be waited for', async () => {
    const layout = tempLayout();
    const { job_id } = makeJob(layout);
    expect(await jobsIn(layout).jobs.output(job_id, { ...ask, wait_ms: 0 }, never)).toMatchObject({ chunks: [], end: false });
  });
});

describe('cancelling', () => {
  it('leaves the request, waits for the end, and says the same to everybody', async () => {
    const layout = tempLayout();
    const { jobs } = jobsIn(layout);
    const { folder, job_id, exec_id } = makeJob(layout);
    takeBy(folder);
    passGate(folder, exec_id);
    const both = [jobs.cancel(job_id, 'first'), jobs.cancel(job_id, 'second')];
    await expect.poll(() => cancelRequested(folder)).toBe('first');
    endFolder(folder, 'running', { ...exitedWith(0), outcome: { state: 'cancelled', reason: 'first' } }, 5, { durable: true });
    for (const record of await Promise.all(both)) expect(record).toMatchObject({ state: 'cancelled', reason: 'first' });
    expect(await jobs.cancel(job_id, 'third')).toMatchObject({ state: 'cancelled', reason: 'first' });
    expect(cancelRequested(folder)).toBe('first');
  });

  it('ends it by identity when its runner does not react', async () => {
    const layout = tempLayout();
    let time = 0;
    const clock = { now: Date.now, monotonic: () => (time += 2_600) };
    const processes = fakeProcesses();
    const jobs = createJobs({ layout, clock, processes, readSpool: plainSpool, launch: async () => ({ type: 'started' }) });
    const stuck = makeJob(layout);
    takeBy(stuck.folder);
    passGate(stuck.folder, stuck.exec_id);
    expect(await jobs.cancel(stuck.job_id, 'enough')).toMatchObject({
      state: 'cancelled',
      reason: expect.stringMatching(/enough.*did not react.*seen gone/),
    });
    expect(processes.ended).toEqual([stuck.folder]);
    expect(isEnded(stuck.folder)).toBe(true);

    processes.teardown = { verified: false, method: 'scan', survivors: [9], ms: 5_000 };
    const immortal = makeJob(layout);
    takeBy(immortal.folder);
    passGate(immortal.folder, immortal.exec_id);
    expect(await jobs.cancel(immortal.job_id, 'enough')).toMatchObject({ state: 'lost', reason: expect.stringContaining('PID 9') });

    const waiting = makeJob(layout);
    takeBy(waiting.folder);
    await expect(jobs.cancel(waiting.job_id, 'enough')).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(isEnded(waiting.folder)).toBe(false);
  });

  it('of one that nobody will ever take, closes it', async () => {
    const layout = tempLayout();
    const { jobs, processes } = jobsIn(layout);
    const { job_id } = makeJob(layout);
    processes.dead.add(STARTER.pid);
    expect(await jobs.cancel(job_id, 'x')).toMatchObject({ state: 'never_started' });
  });
});
