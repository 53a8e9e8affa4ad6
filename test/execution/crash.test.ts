import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecord, RecoveryReport } from '../../src/execution/index.ts';
import { askAtOnce, startClient } from './client.ts';
import { makePlace, NEVER, OWNER, type Place, processesWith } from './place.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

function runnerOf(folder: string): number {
  return (JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')) as { holder: { process: { pid: number } } }).holder.process.pid;
}

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

describe('a client that is killed', () => {
  it('leaves its job going on to its end', async () => {
    const command = 'echo begun; until [ -e go ]; do sleep 0.02; done; echo finished';
    const client = startClient(place, 'job', place.spec(command));
    const { job_id } = (await client.answer) as JobRecord;
    client.kill();
    const execution = place.execution();
    await execution.run(place.spec('touch go'), NEVER);
    await expect.poll(async () => (await execution.jobs.get(job_id))?.state, { timeout: 10_000 }).toBe('exited');
    const page = await execution.jobs.output(job_id, { cursor: 0, max_bytes: 100, wait_ms: 0 }, NEVER);
    expect(page).toMatchObject({ chunks: [{ text: 'begun\nfinished\n' }], end: true });
  });

  it('while it starts a job leaves either nothing or a job that is what it says it is', async () => {
    const execution = place.execution();
    const jobs = join(place.home, 'jobs');
    for (let round = 0; round < 3; round++) {
      const before = new Set(readdirSync(jobs));
      const client = startClient(place, 'job', place.spec(`echo ran >> count${round}; sleep 0.1`));
      // Rounds end it at the birth of the folder, when a runner has taken it, and when it is behind the gate.
      const file = ['spec.json', 'owner.json', 'identity.json'][round] ?? '';
      const reached = (): boolean => readdirSync(jobs).some((name) => !before.has(name) && existsSync(join(jobs, name, file)));
      await expect.poll(reached, { interval: 1, timeout: 20_000 }).toBe(true);
      client.kill();
      await expect
        .poll(async () => (await execution.jobs.list(OWNER)).filter((job) => job.ended_at === undefined), { timeout: 20_000 })
        .toEqual([]);
    }
    const records = (await execution.jobs.list(OWNER)).toReversed();
    expect(records.length).toBeGreaterThan(0);
    for (const job of records) {
      const round = /count(\d)/.exec(job.command)?.[1];
      expect(['exited', 'never_started']).toContain(job.state);
      expect(place.lines(`count${round}`)).toHaveLength(job.state === 'exited' ? 1 : 0);
    }
  });

  it('has its foreground run ended, and the next start learns how it ended', async () => {
    const client = startClient(place, 'run', place.spec('echo begun; sleep 50.0803'));
    const { exec_id } = (await client.answer) as { exec_id: string };
    const runner = runnerOf(join(place.home, 'runs', exec_id));
    client.kill();
    const execution = place.execution();
    const orphans: RecoveryReport['orphaned_runs'][number][] = [];
    await expect.poll(async () => orphans.push(...(await execution.recover()).orphaned_runs), { timeout: 10_000 }).toBeGreaterThan(0);
    expect(orphans[0]).toMatchObject({
      exec_id,
      owner: OWNER,
      result: { outcome: { state: 'cancelled' }, output: { stdout: { head: 'begun\n' } } },
    });
    expect(processesWith('sleep 50.0803')).toEqual([]);
    await execution.confirm(orphans.map((orphan) => orphan.exec_id));
    expect((await execution.recover()).orphaned_runs).toEqual([]);
    // The runner has nothing left to do and goes.
    await expect.poll(() => processesWith('execution-runner').includes(runner), { timeout: 10_000 }).toBe(false);
  });
});

describe('several processes', () => {
  it('that recover at once tell each lost job and each orphan once', async () => {
    const broken = place.execution('gate_open');
    const job = await broken.jobs.start(place.spec('sleep 50.0804'), NEVER);
    const client = startClient(place, 'run', place.spec('sleep 50.0805'));
    const { exec_id } = (await client.answer) as { exec_id: string };
    const runner = runnerOf(join(place.home, 'runs', exec_id));
    client.kill();
    process.kill(runner, 'SIGKILL');
    await expect.poll(() => processesWith('sleep 50.080')).toEqual([]);

    const reports = (await askAtOnce(place, 'recover', 3)) as RecoveryReport[];
    expect(reports.flatMap((report) => report.jobs_lost).length).toBeLessThanOrEqual(1);
    expect(reports.flatMap((report) => report.orphaned_runs.map((orphan) => orphan.exec_id))).toEqual([exec_id]);
    expect((await broken.jobs.get(job.job_id))?.state).toBe('lost');
  });

  it('that ask at once are told of an ended job once', async () => {
    const execution = place.execution();
    const jobs = await Promise.all([1, 2, 3].map(() => execution.jobs.start(place.spec('true'), NEVER)));
    for (const { job_id } of jobs) await expect.poll(async () => (await execution.jobs.get(job_id))?.state).toBe('exited');
    const told = (await askAtOnce(place, 'take', 3)) as JobRecord[][];
    expect(
      told
        .flat()
        .map((job) => job.job_id)
        .sort(),
    ).toEqual(jobs.map((job) => job.job_id).sort());
  });
});
