import type { JobId } from '../../kernel/ids.ts';
import type { JobState } from '../types.ts';
import { RETENTION } from './states.ts';

/** What retention has to know of one job. */
export interface Kept {
  readonly job_id: JobId;
  readonly state: JobState;
  readonly bytes: number;
  readonly ended_at: number;
  readonly delivered_at: number | undefined;
}

export interface RetentionLimits {
  readonly retention_ms: number;
  readonly quota_bytes: number;
  readonly max_jobs: number;
}

export interface Removal {
  readonly job_id: JobId;
  readonly reason: 'retention' | 'quota';
}

/**
 * Which jobs go: first what was delivered and is old enough; then, while all together are over the quota of bytes or of
 * number, the oldest delivered, then the oldest ended. A job that is going on or can't be read stays, whatever it takes.
 */
export function planRemovals(jobs: readonly Kept[], limits: RetentionLimits, now: number): readonly Removal[] {
  const removals: Removal[] = [];
  let bytes = 0;
  let count = 0;
  const rest: Kept[] = [];
  for (const job of jobs) {
    const removable = RETENTION[job.state] === 'when_ended';
    if (removable && job.delivered_at !== undefined && now - job.delivered_at >= limits.retention_ms) {
      removals.push({ job_id: job.job_id, reason: 'retention' });
      continue;
    }
    bytes += job.bytes;
    count += 1;
    if (removable) rest.push(job);
  }
  for (const job of rest.sort(firstToGo)) {
    if (bytes <= limits.quota_bytes && count <= limits.max_jobs) break;
    removals.push({ job_id: job.job_id, reason: 'quota' });
    bytes -= job.bytes;
    count -= 1;
  }
  return removals;
}

function firstToGo(a: Kept, b: Kept): number {
  if (a.delivered_at !== undefined && b.delivered_at !== undefined) return a.delivered_at - b.delivered_at;
  if (a.delivered_at !== undefined) return -1;
  if (b.delivered_at !== undefined) return 1;
  return a.ended_at - b.ended_at;
}
