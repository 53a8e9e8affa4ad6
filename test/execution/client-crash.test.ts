import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEnd, JobRecord, RecoveryReport } from '../../src/execution/index.ts';
import { askAtOnce, startClient } from './client.ts';
import { makePlace, NEVER, OWNER, type Place, processesWith, runnerOf } from './place.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

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
    expect(reports.flatMap((report) => report.orphaned_runs.map((orphan) => orphan.exec_id))).toEqual([exec_id]);
    expect((await broken.jobs.get(job.job_id))?.state).toBe('lost');
    const ends = (await askAtOnce(place, 'ended', 3)) as JobEnd[][];
    expect(ends.flat().map(({ job_id }) => job_id)).toEqual([job.job_id]);
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
