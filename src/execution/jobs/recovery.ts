import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { errnoOf } from '../../kernel/errors.ts';
import type { ExecId, JobId } from '../../kernel/ids.ts';
import type { JobEnd, RecoveryReport } from '../types.ts';
import { idsIn, removeDebris } from './admission.ts';
import { sizeOf, trimEnded } from './ended-runs.ts';
import type { Sight } from './folder.ts';
import { createJson, readJson } from './json-file.ts';
import type { Layout } from './layout.ts';
import { markedAt } from './marks.ts';
import { isDead, type Processes } from './processes.ts';
import { FILES, processIdentity } from './records.ts';
import { removeFolder } from './removal.ts';
import { type Kept, planRemovals, type RetentionLimits } from './retention.ts';
import { settle } from './settle.ts';

export interface RecoveryParts {
  readonly layout: Layout;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly retention: RetentionLimits;
}

type Orphan = RecoveryReport['orphaned_runs'][number];
type Unreadable = RecoveryReport['unreadable'][number];

/** What a start of Writ does with what earlier processes left. Any number of processes may do it at once, at any time. */
export async function recover(parts: RecoveryParts): Promise<RecoveryReport> {
  const { layout, clock, processes } = parts;
  for (const parent of [layout.runs, layout.ended, layout.jobs]) removeDebris(parent, clock.now());
  const runs = await recoverRuns(parts);
  const jobs = await recoverJobs(parts);
  const removed = removeOld(jobs.kept, parts);
  // Whatever was run and is over carries its mark nowhere any more: what still does was left behind.
  const ended = idsIn('run', layout.ended).map((exec_id) => ({ exec_id, folder: join(layout.ended, exec_id) }));
  const markers = [...ended, ...runs.over, ...jobs.over].flatMap(({ exec_id, folder }) => [exec_id, processes.markerOf(folder) ?? exec_id]);
  const swept_processes = await processes.sweepMarked(new Set<string>(markers));
  trimEnded(layout, clock.now());
  const unreadable = [...runs.unreadable, ...jobs.unreadable];
  return { orphaned_runs: runs.orphans, swept_processes, unreadable, removed };
}

/** Retention and quota of jobs alone, for processes that live long. */
export async function applyRetention(parts: RecoveryParts): Promise<RecoveryReport['removed']> {
  const { kept } = await recoverJobs(parts);
  return removeOld(kept, parts);
}

interface Over {
  readonly exec_id: ExecId;
  readonly folder: string;
}

async function recoverRuns(parts: RecoveryParts): Promise<{ orphans: Orphan[]; unreadable: Unreadable[]; over: Over[] }> {
  const { layout, clock, processes } = parts;
  const [orphans, unreadable, over]: [Orphan[], Unreadable[], Over[]] = [[], [], []];
  for (const exec_id of idsIn('run', layout.runs)) {
    const folder = join(layout.runs, exec_id);
    const sight = await settle(folder, processes, clock.now());
    if (sight.type === 'unreadable') unreadable.push({ path: folder, reason: sight.reason });
    if (sight.type !== 'ended') continue;
    over.push({ exec_id, folder });
    // A living starter records and confirms it itself.
    if (!isDead(processes.judge(sight.spec.starter)) || !claim(folder, parts)) continue;
    const { owner, action } = sight.spec.spec;
    orphans.push({ exec_id, owner, ...(action === undefined ? {} : { action }), result: sight.ended.result });
  }
  return { orphans, unreadable, over };
}

/** Every job that is over and not confirmed, claimed for this process: whoever has closed it, maybe a mere look at a list. */
export async function endedJobs(parts: Omit<RecoveryParts, 'retention'>): Promise<readonly JobEnd[]> {
  const { layout, clock, processes } = parts;
  const ends: JobEnd[] = [];
  for (const job_id of idsIn('job', layout.jobs)) {
    const folder = join(layout.jobs, job_id);
    if (markedAt(folder, FILES.reported) !== undefined) continue;
    const sight = await settle(folder, processes, clock.now());
    await breathe();
    if (sight.type !== 'ended' || !claim(folder, parts)) continue;
    const { owner, action } = sight.spec.spec;
    const { at: ended_at, result } = sight.ended;
    ends.push({ job_id, owner, ...(action === undefined ? {} : { action }), ended_at, result });
  }
  return ends;
}

async function recoverJobs(parts: RecoveryParts): Promise<{ unreadable: Unreadable[]; over: Over[]; kept: Kept[] }> {
  const { layout, clock, processes } = parts;
  const [unreadable, over, kept]: [Unreadable[], Over[], Kept[]] = [[], [], []];
  for (const job_id of idsIn('job', layout.jobs)) {
    await breathe();
    const folder = join(layout.jobs, job_id);
    const sight = await settle(folder, processes, clock.now());
    if (sight.type === 'absent') continue;
    kept.push(keptOf(job_id, folder, sight));
    if (sight.type === 'unreadable') unreadable.push({ path: folder, reason: sight.reason });
    if (sight.type !== 'ended') continue;
    over.push({ exec_id: sight.spec.exec_id, folder });
  }
  return { unreadable, over, kept };
}

function removeOld(kept: readonly Kept[], { layout, retention, clock }: RecoveryParts): RecoveryReport['removed'] {
  return planRemovals(kept, retention, clock.now()).filter(({ job_id }) => removeFolder(layout.jobs, job_id));
}

function keptOf(job_id: JobId, folder: string, sight: Exclude<Sight, { type: 'absent' }>): Kept {
  return {
    job_id,
    state: sight.type === 'ended' ? sight.ended.result.outcome.state : sight.type === 'open' ? sight.state : 'unreadable',
    bytes: sizeOf(folder),
    ended_at: sight.type === 'ended' ? sight.ended.at : 0,
    delivered_at: markedAt(folder, FILES.delivered),
  };
}

const claimRecord = z.object({ by: processIdentity });
const MAX_CLAIMS = 100;

/**
 * An orphaned run or the end of a job is reported by one process at a time. The claims are numbered and created exclusively, so that one whose
 * holder died before it confirmed can be taken over, and by one process only.
 */
function claim(folder: string, { clock, processes }: Pick<RecoveryParts, 'clock' | 'processes'>): boolean {
  const self = processes.self();
  for (let number = 0; number < MAX_CLAIMS; number++) {
    const name = `claim.${number}.json`;
    try {
      if (createJson(folder, name, { at: clock.now(), by: self }, { durable: false })) return true;
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return false;
      throw thrown;
    }
    const held = readJson(folder, name, claimRecord);
    if (!held.ok) continue;
    const { by } = held.value;
    if (by.pid === self.pid && by.start === self.start && by.boot_id === self.boot_id) return true;
    if (!isDead(processes.judge(by))) return false;
  }
  return true;
}
