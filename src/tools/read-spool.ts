import type { Execution, Owner, SpoolPage } from '../execution/types.ts';
import { isId } from '../kernel/ids.ts';
import { belongsTo } from './job-shapes.ts';

/** A page of what a foreground command or a job wrote; undefined when there is none or it is somebody else's. */
export async function readSpool(
  execution: Execution,
  request: { readonly id: string; readonly cursor: number; readonly max_bytes: number; readonly owner: Owner },
  signal: AbortSignal,
): Promise<SpoolPage | undefined> {
  const { id, cursor, max_bytes } = request;
  const caller = { owner: request.owner };
  if (isId('job', id)) {
    const job = await execution.jobs.get(id);
    return job && belongsTo(job.owner, caller) ? execution.jobs.output(id, { cursor, max_bytes, wait_ms: 0 }, signal) : undefined;
  }
  const owner = await execution.ownerOf(id);
  return owner && belongsTo(owner, caller) ? execution.output(id, { cursor, max_bytes }) : undefined;
}
