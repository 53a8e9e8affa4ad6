import type { AuditLog } from '../../audit/index.ts';
import type { Execution } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';

/**
 * What an earlier process left open is closed in the record: a foreground run whose owner is gone ends as what its folder still
 * proves, else as `outcome_unknown`. Only then does execution forget it.
 */
export async function closeOrphans(execution: Execution, audit: () => Promise<AuditLog>, logger: Logger, clock: Clock): Promise<void> {
  const report = await execution.recover();
  if (report.swept_processes > 0) logger.warn('processes of an earlier Writ were ended', { count: report.swept_processes });
  for (const item of report.unreadable)
    logger.warn('a record can not be read and is kept as it is', { path: item.path, reason: item.reason });
  const at = clock.now();
  const rows = [
    ...report.jobs_lost.map((job_id) => ({ type: 'job.lost', data: { job_id } })),
    ...report.removed.map((gone) => ({ type: 'job.removed', data: { ...gone } })),
  ];
  if (rows.length + report.orphaned_runs.length === 0) return;
  const log = await audit();
  for (const row of rows) await log.record({ ...row, at, organization: 'org_local' });
  for (const orphan of report.orphaned_runs) {
    const outcome = orphan.result ? orphan.result.outcome : { state: 'outcome_unknown', reason: 'the process that ran it is gone' };
    await log.record({ type: 'run.recovered', at, ...orphan.owner, data: { exec_id: orphan.exec_id, outcome } });
  }
  await execution.confirm(report.orphaned_runs.map((orphan) => orphan.exec_id));
}
