import { toAppError } from '../../kernel/errors.ts';
import { type OrphanParts, recordedIds } from './close-orphans.ts';

/** A job ends in a process that can't write the record; the next look of any server of this machine does it. */
const EVERY_MS = 5_000;

/** Records the ends of jobs that no process has recorded: now, every few seconds, and once more when the returned function is called. */
export function recordJobEnds(parts: OrphanParts): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const look = (): Promise<void> => {
    underWay ??= recordEnded(parts)
      .catch((thrown: unknown) => parts.logger.warn('ends of jobs are recorded later', { reason: toAppError(thrown).message }))
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  void look();
  const timer = setInterval(() => void look(), EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    return look();
  };
}

/** A process that died between recording and confirming has recorded it all the same: nothing ends twice. */
async function recordEnded({ execution, audit, home, clock }: OrphanParts): Promise<void> {
  const ended = await execution.endedJobs();
  if (ended.length === 0) return;
  const log = await audit();
  const known = await recordedIds(home, { type: 'job.ended' });
  for (const { job_id, owner, action, ended_at, result } of ended) {
    const { outcome, output, receipt } = result;
    const data = {
      job_id,
      outcome,
      ended_at,
      total_bytes: output.combined.total_bytes,
      sha256: output.combined.sha256,
      ...(receipt
        ? { exec_id: receipt.exec_id, teardown: receipt.teardown, limits_hit: receipt.limits_hit, quarantined: receipt.quarantined.length }
        : {}),
    };
    const about = action === undefined ? {} : { action };
    if (!known.includes(job_id)) await log.record({ type: 'job.ended', at: clock.now(), ...owner, ...about, data }, { essential: true });
    await execution.confirm([job_id]);
  }
}
