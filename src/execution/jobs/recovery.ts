import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { ExecId, JobId } from '../../kernel/ids.ts';
import type { RecoveryReport } from '../types.ts';
import { idsIn, removeDebris } from './admission.ts';
import { moveToEnded, sizeOf, trimEnded } from './ended-runs.ts';
import type { Sight } from './folder.ts';
import { markedAt } from './job-record.ts';
import { createJson, errnoOf, readJson } from './json-file.ts';
import type { Layout } from './layout.ts';
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

  // Whatever was run and is over carries nothing any more: marks of it that are still seen are on what was left behind.
  const markers = new Set<string>();
  const isOver = (exec_id: ExecId, folder: string): void => {
    markers.add(exec_id);
    const marker = processes.markerOf(folder);
    if (marker !== undefined) markers.add(marker);
  };
  for (const exec_id of idsIn('run', layout.ended)) isOver(exec_id, join(layout.ended, exec_id));
  const unreadable: Unreadable[] = [];
  const orphaned_runs: Orphan[] = [];
  for (const exec_id of idsIn('run', layout.runs)) {
    const folder = join(layout.runs, exec_id);
    const { sight } = await settle(folder, processes, clock.now());
    if (sight.type === 'unreadable') unreadable.push({ path: folder, reason: sight.reason });
    if (sight.type !== 'ended') continue;
    isOver(exec_id, folder);
    // A living starter takes its result itself.
    if (!isDead(processes.judge(sight.spec.starter)) || !claim(folder, parts)) continue;
    orphaned_runs.push({ exec_id, owner: sight.spec.spec.owner, result: sight.ended.result });
  }

  const jobs_lost: JobId[] = [];
  const kept: Kept[] = [];
  for (const job_id of idsIn('job', layout.jobs)) {
    const folder = join(layout.jobs, job_id);
    const { sight, closed_here } = await settle(folder, processes, clock.now());
    if (sight.type === 'absent') continue;
    if (sight.type === 'unreadable') unreadable.push({ path: folder, reason: sight.reason });
    if (sight.type === 'ended') {
      isOver(sight.spec.exec_id, folder);
      if (closed_here && sight.ended.result.outcome.state === 'lost') jobs_lost.push(job_id);
    }
    kept.push(keptOf(job_id, folder, sight));
    await breathe();
  }

  const removed = planRemovals(kept, parts.retention, clock.now()).filter(({ job_id }) => removeFolder(layout.jobs, job_id));
  const swept_processes = await processes.sweepMarked(markers);
  trimEnded(layout, clock.now());
  return { jobs_lost, orphaned_runs, swept_processes, unreadable, removed };
}

export function confirmOrphans(layout: Layout, exec_ids: readonly ExecId[]): void {
  for (const exec_id of exec_ids) moveToEnded(layout, exec_id);
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
 * An orphaned run is reported by one process at a time. The claims are numbered and created exclusively, so that one whose
 * holder died before it confirmed can be taken over, and by one process only.
 */
function claim(folder: string, { clock, processes }: RecoveryParts): boolean {
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
