import type { AuditLog, RecordedEvent } from '../../audit/index.ts';
import type { Execution } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';

export interface OrphanParts {
  readonly execution: Execution;
  audit(): Promise<AuditLog>;
  readonly home: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Looked through for what is in the record already. What one process had stored and not confirmed when it died is its last few rows. */
const LAST_ROWS = 1_000;

/**
 * What an earlier process left open is closed in the record: a foreground run whose owner is gone ends as what its folder still
 * proves, else as `outcome_unknown`. Only then does execution forget it. A process that died between
 * the two has recorded it all the same, so the record is asked first: nothing ends twice in it.
 */
export async function closeOrphans({ execution, audit, home, logger, clock }: OrphanParts): Promise<void> {
  const report = await execution.recover();
  if (report.swept_processes > 0) logger.warn('processes of an earlier Writ were ended', { count: report.swept_processes });
  for (const item of report.unreadable)
    logger.warn('a record can not be read and is kept as it is', { path: item.path, reason: item.reason });
  const { orphaned_runs, removed } = report;
  if (orphaned_runs.length + removed.length === 0) return;

  const at = clock.now();
  const log = await audit();
  for (const gone of removed) await log.record({ type: 'job.removed', at, organization: 'org_local', data: { ...gone } });
  for (const { exec_id, owner, action, result } of orphaned_runs) {
    const outcome = result ? result.outcome : { state: 'outcome_unknown', reason: 'the process that ran it is gone' };
    const known = await recordedIds(home, { run: owner.run });
    if (!known.includes(exec_id))
      await log.record({ type: 'run.recovered', at, ...owner, ...(action === undefined ? {} : { action }), data: { exec_id, outcome } });
    await execution.confirm([exec_id]);
  }
}

/** Executions whose end the newest of these events tell. */
export async function recordedIds(home: string, filter: { readonly type?: string; readonly run?: string }): Promise<readonly unknown[]> {
  const { listEvents } = await import('../../audit/index.ts');
  const { events } = await listEvents(home, { filter, limit: LAST_ROWS });
  return events.flatMap(idsIn);
}

/** A refusal has its evidence one level down. */
function idsIn({ type, data }: RecordedEvent): readonly unknown[] {
  if (type === 'action.finished') return [data['exec_id'], (data['data'] as { exec_id?: unknown } | undefined)?.exec_id];
  return type === 'run.recovered' ? [data['exec_id']] : [data['job_id']];
}
