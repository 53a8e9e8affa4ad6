import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../kernel/clock.ts';
import { type ExecId, type JobId, newId } from '../../kernel/ids.ts';
import type { Owner, ProcessIdentity, RunResult, RunSpec, TeardownReport } from '../types.ts';
import { createFolder } from './folder.ts';
import { createJson } from './json-file.ts';
import { type Layout, layoutOf, makeLayout } from './layout.ts';
import type { Processes, Verdict } from './processes.ts';
import { FILES } from './records.ts';

/** Helpers of this room's tests: a Writ home of their own, and processes that live and die by a table. */

export function tempHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-exec-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return home;
}

export function tempLayout(): Layout {
  const layout = layoutOf(tempHome());
  makeLayout(layout);
  return layout;
}

export const OWNER: Owner = { organization: 'org_local', agent: 'agent_a', run: 'run_a', workspace: 'ws_a' };
export const BOOT = 'boot-1';
export const LIMITS = { memory_bytes: 1 << 30, pids: 256, cpus: 2, file_bytes: 1 << 30, open_files: 1024, disk_bytes: 1 << 30 } as const;

export function processOf(pid: number, boot_id = BOOT): ProcessIdentity {
  return { boot_id, pid, start: String(pid * 100) };
}

export const ME = processOf(1000);
export const STARTER = processOf(1001);
export const RUNNER = processOf(1002);

export interface FakeProcesses extends Processes {
  readonly dead: Set<number>;
  readonly verdicts: Map<number, Verdict>;
  readonly ended: string[];
  readonly swept: string[];
  teardown: TeardownReport | undefined;
}

export function fakeProcesses(self = ME): FakeProcesses {
  const dead = new Set<number>();
  const verdicts = new Map<number, Verdict>();
  const ended: string[] = [];
  const swept: string[] = [];
  const fake: FakeProcesses = {
    dead,
    verdicts,
    ended,
    swept,
    teardown: { verified: true, method: 'namespace_init_gone', survivors: [], ms: 1 },
    self: () => self,
    judge(identity) {
      if (identity.boot_id !== self.boot_id) return 'GONE';
      return verdicts.get(identity.pid) ?? (dead.has(identity.pid) ? 'GONE' : 'OWNED');
    },
    async endRun(folder) {
      ended.push(folder);
      return fake.teardown;
    },
    async sweepMarked(markers) {
      swept.push(...markers);
      return 0;
    },
    markerOf: () => undefined,
  };
  return fake;
}

export function fakeClock(start = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

export function specOf(more: Partial<RunSpec> = {}): RunSpec {
  return {
    command: 'true',
    cwd: '/work',
    workspaces: [{ path: '/work', access: 'write' }],
    owner: OWNER,
    stdin: 'closed',
    timeout_ms: 60_000,
    limits: LIMITS,
    openings: [],
    git_config_write: false,
    ...more,
  };
}

export function exitedWith(exit_code: number, total = 0): RunResult {
  const view = { head: '', tail: '', omitted_bytes: total, total_bytes: total, sha256: null };
  return { outcome: { state: 'exited', exit_code }, output: { stdout: view, stderr: view, combined: view, spooled_bytes: total } };
}

export function makeRun(layout: Layout, more: Partial<RunSpec> = {}, now = Date.now()): { exec_id: ExecId; folder: string } {
  const exec_id = newId<'exec'>('exec', now);
  return { exec_id, folder: createFolder(layout.runs, { exec_id, spec: specOf(more), starter: STARTER, now }, () => {}) };
}

export function makeJob(layout: Layout, more: Partial<RunSpec> = {}, now = Date.now()): { exec_id: ExecId; job_id: JobId; folder: string } {
  const exec_id = newId<'exec'>('exec', now);
  const job_id = newId<'job'>('job', now);
  return { exec_id, job_id, folder: createFolder(layout.jobs, { exec_id, job_id, spec: specOf(more), starter: STARTER, now }, () => {}) };
}

export function takeBy(folder: string, runner: ProcessIdentity = RUNNER): void {
  createJson(folder, FILES.owner, { at: 1, holder: { type: 'runner', process: runner } }, { durable: false });
}

/** As running/ leaves it just before the token is sent. */
export function passGate(folder: string, exec_id: ExecId): void {
  const identity = { version: 1, exec_id, marker: exec_id, supervisor: RUNNER, outer: processOf(1003), init: processOf(1004) };
  writeFileSync(join(folder, FILES.identity), JSON.stringify({ ...identity, pid_namespace: 'pid:[1]', cgroups: [], generation: 1, at: 1 }));
}
