import type { JobId } from '../../kernel/ids.ts';
import type { JobRecord } from '../types.ts';
import { type Sight, spooledBytes } from './folder.ts';
import { markedAt } from './marks.ts';
import { FILES } from './records.ts';

/** A job as it is shown; undefined when there is none, or when nobody can say whose it is. */
export function jobRecordOf(job_id: JobId, folder: string, sight: Sight): JobRecord | undefined {
  if (sight.type === 'absent') return undefined;
  const announced_at = markedAt(folder, FILES.announced);
  const delivered_at = markedAt(folder, FILES.delivered);
  const marks = { ...(announced_at === undefined ? {} : { announced_at }), ...(delivered_at === undefined ? {} : { delivered_at }) };
  const spooled_bytes = spooledBytes(folder);

  if (sight.type === 'unreadable') {
    if (!sight.owner) return undefined;
    const { spec } = sight;
    return {
      job_id,
      state: 'unreadable',
      command: spec?.spec.command ?? '',
      cwd: spec?.spec.cwd ?? '',
      owner: sight.owner,
      created_at: spec?.created_at ?? 0,
      timeout_ms: spec?.spec.timeout_ms ?? 0,
      reason: sight.reason,
      total_bytes: spooled_bytes,
      spooled_bytes,
      ...marks,
    };
  }

  const { created_at, spec } = sight.spec;
  const common = {
    job_id,
    command: spec.command,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    cwd: spec.cwd,
    owner: spec.owner,
    created_at,
    timeout_ms: spec.timeout_ms,
    ...(spec.ports === undefined ? {} : { ports: spec.ports }),
    ...marks,
  };
  if (sight.type === 'open') return { ...common, state: sight.state, total_bytes: spooled_bytes, spooled_bytes };

  const { at, result } = sight.ended;
  const { outcome, output, receipt } = result;
  return {
    ...common,
    state: outcome.state,
    ended_at: at,
    ...('exit_code' in outcome ? { exit_code: outcome.exit_code } : {}),
    ...('signal' in outcome && outcome.signal !== undefined ? { signal: outcome.signal } : {}),
    ...('reason' in outcome ? { reason: outcome.reason } : {}),
    total_bytes: output.combined.total_bytes,
    spooled_bytes: output.spooled_bytes,
    ...(receipt === undefined ? {} : { receipt }),
  };
}
