import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createConfirm, KEEP_ENDED, trimEnded } from './ended-runs.ts';
import { endFolder } from './folder.ts';
import { createJson } from './json-file.ts';
import type { Layout } from './layout.ts';
import { FILES } from './records.ts';
import { endedJobs, type RecoveryParts, recover } from './recovery.ts';
import {
  exitedWith,
  fakeClock,
  fakeProcesses,
  makeJob,
  makeRun,
  OWNER,
  passGate,
  processOf,
  RUNNER,
  STARTER,
  takeBy,
  tempLayout,
} from './testing.ts';

const DAY = 24 * 3_600_000;

function parts(layout: Layout, processes = fakeProcesses()): RecoveryParts & { processes: ReturnType<typeof fakeProcesses> } {
  return { layout, clock: fakeClock(Date.now()), processes, retention: { retention_ms: 7 * DAY, quota_bytes: 1e9, max_jobs: 100 } };
}

describe('recovery', () => {
  it('finds nothing in a new home, twice', async () => {
    const one = parts(tempLayout());
    const nothing = { orphaned_runs: [], swept_processes: 0, unreadable: [], removed: [] };
    expect(await recover(one)).toEqual(nothing);
    expect(await recover(one)).toEqual(nothing);
  });

  it('closes what has no owner, reports it, and sweeps by the markers of what is over only', async () => {
    const layout = tempLayout();
    const one = parts(layout);
    one.processes.dead.add(RUNNER.pid);
    one.processes.dead.add(STARTER.pid);
    const living = processOf(2000);

    const lost = makeJob(layout);
    takeBy(lost.folder);
    passGate(lost.folder, lost.exec_id);
    const alive = makeJob(layout);
    takeBy(alive.folder, living);
    passGate(alive.folder, alive.exec_id);
    const broken = makeJob(layout);
    writeFileSync(join(broken.folder, FILES.spec), '{');
    const astray = makeJob(layout);
    symlinkSync(FILES.identity, join(astray.folder, FILES.identity));
    const run = makeRun(layout);
    takeBy(run.folder);
    passGate(run.folder, run.exec_id);

    const report = await recover(one);
    expect(await endedJobs(one)).toMatchObject([{ job_id: lost.job_id, owner: OWNER, result: { outcome: { state: 'lost' } } }]);
    expect(report.orphaned_runs).toMatchObject([{ exec_id: run.exec_id, owner: OWNER, result: { outcome: { state: 'lost' } } }]);
    expect(new Map(report.unreadable.map(({ path, reason }) => [path, reason]))).toEqual(
      new Map([
        [broken.folder, expect.stringContaining('spec.json')],
        [astray.folder, expect.stringContaining('identity.json')],
      ]),
    );
    expect(new Set(one.processes.swept)).toEqual(new Set([lost.exec_id, run.exec_id]));
    expect(existsSync(broken.folder)).toBe(true);

    // Once more: both are told again until the audit has confirmed them, by one living process, and by the next one when that dies.
    const again = await recover(one);
    expect(await endedJobs(one)).toHaveLength(1);
    expect(again.orphaned_runs).toHaveLength(1);
    const other = parts(layout, fakeProcesses(processOf(2001)));
    for (const pid of one.processes.dead) other.processes.dead.add(pid);
    expect([await recover(other), await endedJobs(other)]).toMatchObject([{ orphaned_runs: [] }, []]);
    other.processes.dead.add(one.processes.self().pid);
    expect([await recover(other), await endedJobs(other)]).toMatchObject([
      { orphaned_runs: [{ exec_id: run.exec_id }] },
      [{ job_id: lost.job_id }],
    ]);
    createConfirm(layout, one.clock)([run.exec_id, lost.job_id]);
    expect([await recover(one), await endedJobs(one)]).toMatchObject([{ orphaned_runs: [] }, []]);
    expect(existsSync(join(layout.ended, run.exec_id))).toBe(true);
  });

  it('leaves the result of a run to its living client', async () => {
    const layout = tempLayout();
    const { folder } = makeRun(layout);
    endFolder(folder, 'running', exitedWith(0), 1, { durable: false });
    expect((await recover(parts(layout))).orphaned_runs).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });

  it('reports an orphan to one of several processes, and to another when that one died before it confirmed', async () => {
    const layout = tempLayout();
    makeRun(layout);
    const [first, second, third] = [3001, 3002, 3003].map((pid) => {
      const processes = fakeProcesses(processOf(pid));
      processes.dead.add(STARTER.pid);
      return parts(layout, processes);
    }) as [ReturnType<typeof parts>, ReturnType<typeof parts>, ReturnType<typeof parts>];
    const told = await Promise.all([recover(first), recover(second)]);
    expect(told.map((report) => report.orphaned_runs.length).sort()).toEqual([0, 1]);
    for (const pid of [3001, 3002]) third.processes.dead.add(pid);
    expect((await recover(third)).orphaned_runs).toHaveLength(1);
  });

  it('removes by retention and says so once', async () => {
    const layout = tempLayout();
    const { folder, job_id } = makeJob(layout);
    const one = parts(layout);
    endFolder(folder, 'running', exitedWith(0), 1, { durable: true });
    expect((await recover(one)).removed).toEqual([]);
    createJson(folder, FILES.delivered, { at: one.clock.now() - 8 * DAY }, { durable: false });
    const both = await Promise.all([recover(one), recover(one)]);
    expect(both.flatMap((report) => report.removed)).toEqual([{ job_id, reason: 'retention' }]);
    expect(readdirSync(layout.jobs)).toEqual([]);
  });

  it('clears what was left half made, and not what is being made', async () => {
    const layout = tempLayout();
    const one = parts(layout);
    const names = ['.new-exec_old', '.gone-exec_old', '.new-exec_young'];
    for (const name of names) mkdirSync(join(layout.runs, name));
    for (const name of names.slice(0, 2)) utimesSync(join(layout.runs, name), 1, 1);
    await recover(one);
    expect(readdirSync(layout.runs).sort()).toEqual(['.new-exec_young', 'ended']);
  });
});

/** One that its caller has recorded and confirmed. */
function endedRun(layout: Layout, at: number): void {
  const { folder, exec_id } = makeRun(layout, {}, at);
  endFolder(folder, 'running', exitedWith(0), at, { durable: false });
  createConfirm(layout, fakeClock(at))([exec_id]);
}

describe('confirming', () => {
  it('leaves what goes on, and what nobody can read, where recovery looks', () => {
    const layout = tempLayout();
    const { exec_id } = makeRun(layout);
    const confirm = createConfirm(layout, fakeClock(1));
    confirm([exec_id]);
    confirm([makeJob(layout).exec_id]);
    expect(readdirSync(layout.ended)).toEqual([]);
    expect(readdirSync(layout.runs)).toContain(exec_id);
  });

  it('keeps the number of folders within its bound by itself: when nothing ends for a while, or when there are twice as many', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const layout = tempLayout();
      const confirm = createConfirm(layout, fakeClock(Date.now()));
      const end = (count: number): void => {
        for (let i = 0; i < count; i++) {
          const { folder, exec_id } = makeRun(layout);
          endFolder(folder, 'running', exitedWith(0), 1, { durable: false });
          confirm([exec_id, exec_id]);
        }
      };
      end(KEEP_ENDED.most + 50);
      expect(readdirSync(layout.ended)).toHaveLength(KEEP_ENDED.most + 50);
      vi.advanceTimersByTime(60_000);
      expect(readdirSync(layout.ended)).toHaveLength(KEEP_ENDED.most);
      end(KEEP_ENDED.most + 25);
      expect(readdirSync(layout.ended)).toHaveLength(KEEP_ENDED.most);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('ended runs', () => {
  it('are kept for a day and up to a number', () => {
    const layout = tempLayout();
    const now = Date.now();
    for (let i = 0; i < KEEP_ENDED.most + 5; i++) endedRun(layout, now - 1_000_000 + i);
    trimEnded(layout, now);
    const left = readdirSync(layout.ended);
    expect(left).toHaveLength(KEEP_ENDED.most);
    trimEnded(layout, now + KEEP_ENDED.ms + 60_000);
    expect(readdirSync(layout.ended)).toEqual([]);
  });
});
