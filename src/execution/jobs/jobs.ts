import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { isId, type JobId, newId } from '../../kernel/ids.ts';
import type { JobRecord, Jobs, Owner, RunSpec } from '../types.ts';
import { idsIn } from './admission.ts';
import { requestCancel, waitForCancel } from './cancel.ts';
import { createFolder } from './folder.ts';
import { POLL_MS, watchFolder } from './folder-watch.ts';
import { jobRecordOf } from './job-record.ts';
import type { Layout } from './layout.ts';
import { createListed } from './listed.ts';
import { markedAt, setMark } from './marks.ts';
import type { Processes } from './processes.ts';
import { FILES } from './records.ts';
import { removeFolder } from './removal.ts';
import { withRoom } from './room.ts';
import { settle } from './settle.ts';
import { readOutput, type SpoolReader } from './spool.ts';

/** What became of bringing a job to a runner of its own. */
export type Launch =
  | { readonly type: 'started' }
  /** Nothing ran, and the caller can read why. */
  | { readonly type: 'refused'; readonly error: AppError }
  /** The runner ended before it answered: the folder says how far it came. */
  | { readonly type: 'gone'; readonly reason: string };

export interface JobsParts {
  readonly layout: Layout;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly readSpool: SpoolReader;
  launch(job_id: JobId): Promise<Launch>;
}

export function createJobs(parts: JobsParts): Jobs {
  const { layout, clock, processes } = parts;
  const folderOfJob = (job_id: JobId): string => join(layout.jobs, job_id);

  const read = async (job_id: JobId): Promise<JobRecord | undefined> => {
    const folder = folderOfJob(job_id);
    const sight = await settle(folder, processes, clock.now());
    return jobRecordOf(job_id, folder, sight);
  };

  const startJob = async (spec: RunSpec, signal: AbortSignal): Promise<JobRecord> => {
    throwIfAborted(signal);
    const job_id = newId<'job'>('job', clock.now());
    const birth = { exec_id: newId<'exec'>('exec', clock.now()), job_id, spec, starter: processes.self(), now: clock.now() };
    const folder = await withRoom('job', layout.jobs, parts, (admitted) => createFolder(layout.jobs, birth, admitted));

    const onAbort = (): void => requestCancel(folder, 'the request that started it was cancelled', clock.now());
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const launch = await parts.launch(job_id);
      if (launch.type === 'refused') {
        removeFolder(layout.jobs, job_id);
        throw launch.error;
      }
      if (launch.type === 'gone') await settle(folder, processes, clock.now(), { given_up: launch.reason });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    if (signal.aborted) {
      await waitForCancel(folder, parts);
      setMark(folder, FILES.announced, clock.now());
      throwIfAborted(signal);
    }
    const record = await read(job_id);
    if (!record) throw new AppError('internal', `The folder of ${job_id} was removed while it was being started.`);
    return record;
  };

  // Asked after every call of an agent: whose a job is never changes, so that a job is opened again only by those it may concern.
  const known = new Map<JobId, { readonly owner: Owner | undefined; readonly told: boolean }>();
  const present = createListed(layout.jobs);

  return {
    start: startJob,

    async list({ organization, agent }) {
      const records: JobRecord[] = [];
      for (const job_id of idsIn('job', layout.jobs).toReversed()) {
        const record = await read(job_id);
        await breathe();
        if (record && record.owner.organization === organization && (agent ?? record.owner.agent) === record.owner.agent)
          records.push(record);
      }
      return records;
    },

    get: async (job_id) => (isId('job', job_id) ? read(job_id) : undefined),

    async output(job_id, request, signal) {
      if (!isId('job', job_id)) return undefined;
      const folder = folderOfJob(job_id);
      const until = clock.monotonic() + request.wait_ms;
      const watch = watchFolder(folder);
      try {
        for (;;) {
          const page = await readOutput(folder, request, parts.readSpool);
          const left = until - clock.monotonic();
          if (!page || page.end || page.chunks.length > 0 || left <= 0 || signal.aborted) return page;
          await watch.changed(Math.min(left, POLL_MS), signal);
        }
      } finally {
        watch.close();
      }
    },

    async cancel(job_id, reason) {
      if (!isId('job', job_id)) return undefined;
      const folder = folderOfJob(job_id);
      const before = await read(job_id);
      if (before?.state !== 'starting' && before?.state !== 'running') return before;
      requestCancel(folder, reason, clock.now());
      await waitForCancel(folder, parts);
      return read(job_id);
    },

    async takeEnded(owner) {
      const taken: JobRecord[] = [];
      const ids = present();
      for (const job_id of ids) {
        const folder = folderOfJob(job_id);
        const before = known.get(job_id);
        if (before && (before.told || !isRunOf(before.owner, owner))) continue;
        const record = await read(job_id);
        const over = record?.ended_at !== undefined && isRunOf(record.owner, owner);
        if (over && setMark(folder, FILES.announced, clock.now())) taken.push({ ...record, announced_at: clock.now() });
        known.set(job_id, { owner: record?.owner, told: over && markedAt(folder, FILES.announced) !== undefined });
      }
      if (known.size > ids.length) for (const job_id of known.keys()) if (!ids.includes(job_id)) known.delete(job_id);
      return taken;
    },

    async markDelivered(job_id, reader) {
      if (!isId('job', job_id)) return;
      const record = await read(job_id);
      if (record?.ended_at === undefined) return;
      setMark(folderOfJob(job_id), FILES.delivered, clock.now());
      if (isRunOf(record.owner, reader)) setMark(folderOfJob(job_id), FILES.announced, clock.now());
    },
  };
}

function isRunOf(owner: Owner | undefined, asking: Owner): boolean {
  return owner?.organization === asking.organization && owner.agent === asking.agent && owner.run === asking.run;
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('cancelled', 'The request was cancelled while the job was being started; nothing of it runs.');
}
