import { existsSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { toAppError } from '../../kernel/errors.ts';
import type { JobId } from '../../kernel/ids.ts';
import { admit } from '../jobs/admission.ts';
import { fillJob, unfillJob } from '../jobs/folder.ts';
import { syncPath } from '../jobs/json-file.ts';
import { BIRTH_PREFIX, type Layout } from '../jobs/layout.ts';
import { FILES, type SpecRecord } from '../jobs/records.ts';

/**
 * Makes a job of a going run: everything it is known by goes to the disk, then its folder is renamed. All in one go, so that
 * nothing of this process sees it half done; for another process it is a run before the rename and a job after it. What carries
 * it out holds the folder open and doesn't mind. Throws busy and disk_full, and then nothing has changed.
 */
export function promoteFolder(layout: Layout, folder: string, job_id: JobId, record: SpecRecord, now: number): string {
  const place = join(layout.jobs, `${BIRTH_PREFIX}${job_id}`);
  const target = join(layout.jobs, job_id);
  mkdirSync(place, { mode: 0o700 });
  try {
    admit('job', layout.jobs);
    for (const name of [FILES.spec, FILES.owner, FILES.identity]) {
      const path = join(folder, name);
      if (existsSync(path)) syncPath(path);
    }
    fillJob(folder, job_id, record, now);
    renameSync(folder, target);
  } catch (thrown) {
    unfillJob(folder);
    throw toAppError(thrown);
  } finally {
    rmdirSync(place);
  }
  // A job by now, whatever a failing disk says: only after a power cut could it be a run again.
  for (const parent of [layout.jobs, layout.runs]) syncPath(parent);
  return target;
}
