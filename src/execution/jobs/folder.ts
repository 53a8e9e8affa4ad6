import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import type { ExecId, JobId } from '../../kernel/ids.ts';
import { look as lookAt } from '../containment/look.ts';
import { IDENTITY_FILE, readIdentity } from '../running/identity-file.ts';
import type { Owner, ProcessIdentity, RunResult, RunSpec } from '../types.ts';
import { createJson, placeFile, placeJson, readJson, syncPath, type WriteOptions } from './json-file.ts';
import { BIRTH_PREFIX } from './layout.ts';
import {
  FILES,
  jobRecord,
  type OwnerRecord,
  ownerRecord,
  type ResultRecord,
  resultRecord,
  type SpecRecord,
  specRecord,
} from './records.ts';
import { type Evidence, mayEnd, type OpenState, stateOf } from './states.ts';

/** Room kept in the folder of a job so that its end can be written on a full disk. */
const RESERVE_BYTES = 64 * 1024;

export interface Birth {
  readonly exec_id: ExecId;
  /** Present: it is a job from the start. */
  readonly job_id?: JobId;
  readonly spec: RunSpec;
  readonly starter: ProcessIdentity;
  readonly now: number;
}

/**
 * Makes the folder of an execution, whole or not at all: it is filled under a name that no reader looks at and then renamed.
 * A job's is on the disk when this returns. `admit` runs in between and may refuse.
 */
export function createFolder(parent: string, birth: Birth, admit: (parent: string) => void, make = makeFolder): string {
  const durable = birth.job_id !== undefined;
  const id = birth.job_id ?? birth.exec_id;
  const hidden = join(parent, `${BIRTH_PREFIX}${id}`);
  const folder = join(parent, id);
  make(hidden);
  try {
    admit(parent);
    const { stdin, network, ports, ...spec } = birth.spec;
    if (stdin !== 'closed') placeFile(join(hidden, FILES.stdin), stdin, { durable });
    const record: SpecRecord = {
      exec_id: birth.exec_id,
      created_at: birth.now,
      starter: birth.starter,
      spec: {
        ...spec,
        workspaces: [...spec.workspaces],
        openings: [...spec.openings],
        ...(network === undefined ? {} : { network: { hosts: [...network.hosts], presets: [...network.presets] } }),
        ...(ports === undefined ? {} : { ports: [...ports] }),
        stdin: stdin === 'closed' ? 'closed' : 'file',
      },
    };
    placeJson(hidden, FILES.spec, record, { durable });
    if (birth.job_id !== undefined) fillJob(hidden, birth.job_id, record, birth.now);
    renameSync(hidden, folder);
    if (durable) syncPath(parent);
    return folder;
  } catch (thrown) {
    rmSync(hidden, { recursive: true, force: true });
    throw thrown;
  }
}

export function makeFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
}

/** Adds what makes a job of a folder; on the disk when it returns. */
export function fillJob(folder: string, job_id: JobId, record: SpecRecord, now: number): void {
  placeFile(join(folder, FILES.reserve), Buffer.alloc(RESERVE_BYTES, 0x77), { durable: true });
  placeJson(folder, FILES.job, { job_id, exec_id: record.exec_id, owner: record.spec.owner, became_job_at: now }, { durable: true });
  syncPath(folder);
}

/** Takes back what `fillJob` may have done to a run that stays one. */
export function unfillJob(folder: string): void {
  for (const name of [FILES.job, FILES.reserve]) rmSync(join(folder, name), { force: true });
}

/** What a folder says, before anybody asks whether its processes are alive. */
export type Sight =
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable'; readonly reason: string; readonly owner: Owner | undefined; readonly spec: SpecRecord | undefined }
  | { readonly type: 'open'; readonly state: OpenState; readonly spec: SpecRecord; readonly holder: OwnerRecord['holder'] | undefined }
  | { readonly type: 'ended'; readonly spec: SpecRecord; readonly ended: ResultRecord };

export function look(folder: string): Sight {
  const job = readJson(folder, FILES.job, jobRecord);
  const spec = readJson(folder, FILES.spec, specRecord);
  const owner = readJson(folder, FILES.owner, ownerRecord);
  const result = readJson(folder, FILES.result, resultRecord);
  const id = basename(folder);
  const shownTo = job.ok ? job.value.owner : spec.ok ? spec.value.spec.owner : undefined;
  const bad = (reason: string): Sight => ({ type: 'unreadable', reason, owner: shownTo, spec: spec.ok ? spec.value : undefined });

  if (!spec.ok) return spec.missing && !existsSync(folder) ? { type: 'absent' } : bad(spec.reason);
  // Under the name of a run it is one, whatever job.json says: its runner may have died while it was making a job of it.
  if (id !== spec.value.exec_id) {
    if (!job.ok && !job.missing) return bad(job.reason);
    if (!job.ok || id !== job.value.job_id) return bad(`its files are those of ${spec.value.exec_id}, not of ${id}`);
  }
  if (!owner.ok && !owner.missing) return bad(owner.reason);
  if (!result.ok && !result.missing) return bad(result.reason);

  if (result.ok) return { type: 'ended', spec: spec.value, ended: result.value };
  const identity = readIdentity(folder);
  if (identity === 'unreadable') return bad(`${IDENTITY_FILE} can't be read, so whether anything of it ran isn't known`);
  const evidence: Evidence = {
    spec: 'ok',
    owner: owner.ok ? 'ok' : 'missing',
    // A torn one is as good as none: it is written whole before the token is sent.
    identity: typeof identity === 'object',
    result: 'missing',
  };
  const state = stateOf(evidence);
  if (state !== 'starting' && state !== 'running') return bad(`its files make it ${state} without a result`);
  return { type: 'open', state, spec: spec.value, holder: owner.ok ? owner.value.holder : undefined };
}

/** The spec as the caller gave it. */
export function readSpec(folder: string, record: SpecRecord): RunSpec {
  const { stdin, ...rest } = record.spec;
  return { ...rest, stdin: stdin === 'closed' ? 'closed' : new Uint8Array(readFileSync(join(folder, FILES.stdin))) };
}

/**
 * Writes the end. False when somebody else has written one before, or the folder is gone: then that stands. On a full disk the
 * reserve makes room, and if that is not enough the text of the output is left out (it is in the spool).
 */
export function endFolder(folder: string, from: OpenState, result: RunResult, now: number, options: WriteOptions): boolean {
  if (!mayEnd(from, result.outcome.state))
    throw new AppError('internal', `An execution that is ${from} can't become ${result.outcome.state}.`);
  const attempts = [
    () => createJson(folder, FILES.result, { at: now, result }, options),
    () => {
      rmSync(join(folder, FILES.reserve), { force: true });
      return createJson(folder, FILES.result, { at: now, result }, options);
    },
    () => createJson(folder, FILES.result, { at: now, result: withoutText(result) }, options),
  ];
  let failure: unknown;
  for (const attempt of attempts) {
    try {
      const written = attempt();
      // Only jobs have one.
      if (options.durable) rmSync(join(folder, FILES.reserve), { force: true });
      return written;
    } catch (thrown) {
      const errno = errnoOf(thrown);
      if (errno === 'ENOENT') return false;
      if (errno !== 'ENOSPC' && errno !== 'EDQUOT') throw thrown;
      failure = thrown;
    }
  }
  throw failure;
}

export function isEnded(folder: string): boolean {
  return existsSync(join(folder, FILES.result));
}

/** Bytes of output that can be read back now. */
export function spooledBytes(folder: string): number {
  const output = lookAt(join(folder, FILES.output));
  return output?.isFile() ? output.size : 0;
}

/** Every view counted as omitted, so that nothing looks complete that isn't. */
function withoutText(result: RunResult): RunResult {
  const bare = (view: RunResult['output']['stdout']): RunResult['output']['stdout'] => ({
    ...view,
    head: '',
    tail: '',
    omitted_bytes: view.total_bytes,
  });
  const { stdout, stderr, combined, spooled_bytes } = result.output;
  return { ...result, output: { stdout: bare(stdout), stderr: bare(stderr), combined: bare(combined), spooled_bytes } };
}
