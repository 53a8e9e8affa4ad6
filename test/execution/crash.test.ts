import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, NEVER, OWNER, type Place, processesWith, runnerOf } from './place.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const STEPS = ['asked', 'owned', 'planned', 'gate_open', 'ended', 'recorded'] as const;
/** Where the command can't have run, can have, and where its end is known. */
const EXPECTED: Readonly<Record<(typeof STEPS)[number], readonly string[]>> = {
  asked: ['never_started'],
  owned: ['never_started'],
  planned: ['never_started'],
  gate_open: ['lost'],
  ended: ['lost'],
  recorded: ['exited'],
};

describe('a runner that is killed', () => {
  it.each(STEPS)('at step "%s" of a job leaves a record, and what it says is true', async (step) => {
    const execution = place.execution(step);
    const started = await execution.jobs.start(place.spec('echo ran >> count; echo done'), NEVER);
    const state = async (): Promise<string | undefined> => (await execution.jobs.get(started.job_id))?.state;
    await expect.poll(state, { timeout: 10_000 }).not.toMatch(/starting|running/);
    expect(EXPECTED[step]).toContain(await state());
    const ran = place.lines('count').length;
    if ((await state()) === 'never_started') expect(ran).toBe(0);
    else expect(ran).toBeLessThanOrEqual(1);
    // Nothing of it starts again, however often somebody looks.
    const report = await place.execution().recover();
    expect(report.unreadable).toEqual([]);
    expect(place.lines('count')).toHaveLength(ran);
    expect((await execution.jobs.takeEnded(OWNER)).map((job) => job.job_id)).toEqual([started.job_id]);
  });

  it.each(['owned', 'gate_open', 'ended'] as const)(
    'at step "%s" of a foreground run is answered, and the next call has a new one',
    async (step) => {
      const execution = place.execution(step);
      const result = await execution.run(place.spec('echo ran >> count; echo done'), NEVER);
      expect(EXPECTED[step]).toContain(result.outcome.state);
      const ran = place.lines('count').length;
      expect(ran).toBeLessThanOrEqual(result.outcome.state === 'never_started' ? 0 : 1);
      expect(await place.execution().run(place.spec('true'), NEVER)).toMatchObject({ outcome: { exit_code: 0 } });
      expect(readdirSync(join(place.home, 'runs'))).toEqual(['ended']);
      expect((await place.execution().recover()).orphaned_runs).toEqual([]);
    },
  );

  it('takes its processes along; its runs are lost with a reason and what was written can be read', async () => {
    const execution = place.execution();
    const handle = await execution.start(place.spec('echo before; setsid sleep 50.0801 & sleep 50.0801'), NEVER);
    await expect.poll(async () => (await handle.view()).stdout.head).toBe('before\n');
    process.kill(runnerOf(join(place.home, 'runs', handle.exec_id)), 'SIGKILL');
    expect(await handle.done).toMatchObject({
      outcome: { state: 'lost', reason: expect.stringMatching(/its runner .* ended before.*seen gone/) },
    });
    expect(processesWith('sleep 50.0801')).toEqual([]);
    expect(await execution.output(handle.exec_id, { cursor: 0, max_bytes: 100 })).toMatchObject({
      chunks: [{ text: 'before\n' }],
      end: true,
    });
    expect(await execution.run(place.spec('true'), NEVER)).toMatchObject({ outcome: { exit_code: 0 } });
  });

  it('with a job leaves it lost, and nothing of it alive', async () => {
    const execution = place.execution();
    const job = await execution.jobs.start(place.spec('setsid sleep 50.0802 & sleep 50.0802'), NEVER);
    process.kill(runnerOf(join(place.home, 'jobs', job.job_id)), 'SIGKILL');
    await expect.poll(async () => (await execution.jobs.get(job.job_id))?.state).toBe('lost');
    expect(processesWith('sleep 50.0802')).toEqual([]);
    expect(await execution.jobs.cancel(job.job_id, 'late')).toMatchObject({ state: 'lost' });
  });
});

describe('a runner that does not react', () => {
  it('can not keep its job from being cancelled, and has no say afterwards', async () => {
    const execution = place.execution();
    const job = await execution.jobs.start(place.spec("trap '' TERM; while sleep 50.0806; do :; done"), NEVER);
    const runner = runnerOf(join(place.home, 'jobs', job.job_id));
    process.kill(runner, 'SIGSTOP');
    const record = await execution.jobs.cancel(job.job_id, 'enough');
    expect(record).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/enough.*did not react.*seen gone/) });
    expect(processesWith('sleep 50.0806')).toEqual([]);
    process.kill(runner, 'SIGCONT');
    await expect.poll(() => processesWith('execution-runner').includes(runner), { timeout: 10_000 }).toBe(false);
    expect(await execution.jobs.get(job.job_id)).toEqual(record);
  });

  it('is told to end: so does everything in it, and that is how it is written down', async () => {
    const execution = place.execution();
    const job = await execution.jobs.start(place.spec('sleep 50.0807'), NEVER);
    process.kill(runnerOf(join(place.home, 'jobs', job.job_id)), 'SIGTERM');
    await expect.poll(async () => (await execution.jobs.get(job.job_id))?.state, { timeout: 10_000 }).toBe('cancelled');
    expect(await execution.jobs.get(job.job_id)).toMatchObject({ reason: expect.stringContaining('SIGTERM') });
  });
});
