import { z } from 'zod';
import { type ExecId, isId, type JobId } from '../../kernel/ids.ts';
import type { Receipt, RunResult } from '../types.ts';

/** The shapes of the files in an execution's folder. All carry a format version (json-file.ts adds and checks it). */

const execId = z.custom<ExecId>((value) => isId('exec', value), 'is not an exec id');
const jobId = z.custom<JobId>((value) => isId('job', value), 'is not a job id');
const epochMs = z.int().nonnegative();

/** Never 0, 1 or negative: such a number as a target of a signal would mean a group, everything, or init. */
export const processIdentity = z.object({ boot_id: z.string().min(1), pid: z.int().min(2), start: z.string().regex(/^\d+$/) });

const owner = z.object({ organization: z.string(), agent: z.string(), run: z.string(), workspace: z.string() });
const bind = z.object({ path: z.string(), access: z.enum(['read', 'write']) });

/** `stdin` bytes are a file of their own beside it: they may be anything and big. */
const specOnDisk = z.object({
  command: z.string(),
  cwd: z.string(),
  workspaces: z.array(bind),
  owner,
  stdin: z.enum(['closed', 'file']),
  pty: z.object({ cols: z.number(), rows: z.number() }).exactOptional(),
  timeout_ms: z.number(),
  limits: z.object({
    memory_bytes: z.number(),
    pids: z.number(),
    cpus: z.number(),
    file_bytes: z.number(),
    open_files: z.number(),
    disk_bytes: z.number(),
  }),
  openings: z.array(bind.extend({ make: z.enum(['file', 'folder']).exactOptional() })),
  network: z.object({ hosts: z.array(z.string()), presets: z.array(z.string()) }).exactOptional(),
  ports: z.array(z.int()).exactOptional(),
  git_config_write: z.boolean(),
  uncontained: z.literal(true).exactOptional(),
  nested_userns: z.boolean().exactOptional(),
  description: z.string().exactOptional(),
  action: z.string().exactOptional(),
});

/** `spec.json`: what was asked, by whom, and which process is bringing it to a runner. */
export const specRecord = z.object({
  exec_id: execId,
  created_at: epochMs,
  starter: processIdentity,
  spec: specOnDisk,
});
export type SpecRecord = z.infer<typeof specRecord>;

/** `job.json`: it is a job. Repeats the owner so that a job whose spec can't be read still has somebody to be shown to. */
export const jobRecord = z.object({ job_id: jobId, exec_id: execId, owner, became_job_at: epochMs });

/**
 * `owner.json`, created exclusively, decides who may start the command: the runner that took it, or nobody any more
 * (`closed`), because recovery found that whoever should have brought it to a runner is gone.
 */
export const ownerRecord = z.object({
  at: epochMs,
  holder: z.discriminatedUnion('type', [
    z.object({ type: z.literal('runner'), process: processIdentity }),
    z.object({ type: z.literal('closed'), reason: z.string() }),
  ]),
});
export type OwnerRecord = z.infer<typeof ownerRecord>;

const streamView = z.object({
  head: z.string(),
  tail: z.string(),
  omitted_bytes: z.number(),
  total_bytes: z.number(),
  sha256: z.string().nullable(),
});

const outcome = z.discriminatedUnion('state', [
  z.object({ state: z.literal('exited'), exit_code: z.int(), signal: z.string().exactOptional() }),
  z.object({ state: z.literal('timed_out'), exit_code: z.literal(124) }),
  z.object({ state: z.literal('cancelled'), reason: z.string() }),
  z.object({ state: z.literal('never_started'), reason: z.string() }),
  z.object({ state: z.literal('lost'), reason: z.string() }),
]);

/** A receipt is evidence to be shown, never acted on: only its outline is checked. */
const receipt = z.custom<Receipt>(
  (value) => typeof value === 'object' && value !== null && 'exec_id' in value && 'teardown' in value && 'containment' in value,
  'is not a receipt',
);

/** `result.json`: the end, created exclusively: whoever writes it first has said how it ended. */
export const resultRecord = z.object({
  at: epochMs,
  result: z.object({
    outcome,
    output: z.object({ stdout: streamView, stderr: streamView, combined: streamView, spooled_bytes: z.number() }),
    receipt: receipt.exactOptional(),
  }),
});
export type ResultRecord = { readonly at: number; readonly result: RunResult };

/** `cancel.json`: a request that anybody who may write the folder can leave; the first reason stands. */
export const cancelRecord = z.object({ at: epochMs, reason: z.string() });

/** `placed.json`: what was made for the openings of a run, to be taken away when it has left it alone. */
export const placedRecord = z.object({
  placed: z.array(z.object({ path: z.string(), folder: z.boolean(), ino: z.string(), changed: z.string() })),
  stand_ins: z
    .array(z.object({ folder: z.string(), name: z.string(), files: z.array(z.object({ name: z.string(), ino: z.string() })) }))
    .default([]),
});

/** `announced.json`, `delivered.json`, `reported.json`: done once, by whoever created it. */
export const markRecord = z.object({ at: epochMs });

export const FILES = {
  spec: 'spec.json',
  stdin: 'stdin.bin',
  job: 'job.json',
  owner: 'owner.json',
  identity: 'identity.json',
  output: 'output.log',
  result: 'result.json',
  cancel: 'cancel.json',
  announced: 'announced.json',
  delivered: 'delivered.json',
  reported: 'reported.json',
  placed: 'placed.json',
  reserve: 'reserve',
} as const;
