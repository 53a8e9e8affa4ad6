import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { AppError, errnoOf, toAppError } from '../../kernel/errors.ts';
import { withFileLock } from '../../kernel/file-lock.ts';
import { pinSchema } from './pin.ts';

export const APPROVALS_FILE = 'upstream-approvals.json';
const VERSION = 1;

/** Some thousands of tools. A home that needs more has a server that makes up tools. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Why hardening wanted somebody to look; safe to print. */
const flags = z.array(z.string()).optional();
const waiting = z.object({ at: z.int(), backend: z.string(), pin: pinSchema, flags });
const toolRecord = z.object({
  name: z.string(),
  /** `seen`: pinned at first sight, no person was asked. `asked`: nobody answered yet. */
  state: z.enum(['seen', 'asked', 'approved', 'denied']),
  at: z.int(),
  by: z.string().optional(),
  /** What ran when it was approved: digest of the backend. */
  backend: z.string(),
  pin: pinSchema,
  flags,
  /** Another definition than the pinned one was seen; none is used until somebody answers. */
  waiting: waiting.optional(),
});
const upstreamRecord = z.object({
  /** Real path; null: of the operator. */
  project: z.string().nullable(),
  name: z.string(),
  server: z.object({ state: z.enum(['approved', 'denied']), at: z.int(), by: z.string(), pin: pinSchema }).optional(),
  tools: z.array(toolRecord),
});
const fileSchema = z.object({ version: z.literal(VERSION), upstreams: z.array(upstreamRecord) });

export type ToolRecord = z.output<typeof toolRecord>;
export type UpstreamRecord = z.output<typeof upstreamRecord>;

/** Which upstream is meant. Paths are compared byte for byte: two that only look the same are two. */
export interface UpstreamKey {
  readonly project: string | null;
  readonly name: string;
}

export type ReadRecords =
  | { readonly ok: true; readonly upstreams: readonly UpstreamRecord[] }
  /** Nothing counts as approved, and the file stays as it is. */
  | { readonly ok: false; readonly problem: string; readonly fix: string };

export interface Records {
  read(): ReadRecords;
  /**
   * Reads, lets `change` alter a copy and puts it back, whole or not at all, while no other process does. `change` answers undefined to leave
   * the file alone. AppError `store_unavailable` where the file can't be trusted, `busy`, `disk_full`.
   */
  update<T>(
    change: (upstreams: UpstreamRecord[]) => Promise<{ readonly value: T; readonly write: boolean }>,
    signal?: AbortSignal,
  ): Promise<T>;
}

/** Who approved which upstream and which tools: `upstream-approvals.json` of the Writ home, 0600, for people to read. */
export function createRecords(home: string): Records {
  const path = join(home, APPROVALS_FILE);
  let last: { readonly stamp: string; readonly result: ReadRecords } | undefined;

  const read = (): ReadRecords => {
    let fd: number;
    try {
      // NOFOLLOW, NONBLOCK: a link or a pipe of this name is refused and not followed or waited for.
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return { ok: true, upstreams: [] };
      return refused(path, errnoOf(thrown) === 'ELOOP' ? 'it is a symbolic link' : reasonOf(thrown));
    }
    try {
      const { dev, ino, size, mtimeNs, ctimeNs, mode } = fstatSync(fd, { bigint: true });
      if ((mode & 0o170000n) !== 0o100000n) return refused(path, 'it is not a plain file');
      if ((mode & 0o022n) !== 0n) return refused(path, 'others than its owner may write it');
      if (size > MAX_BYTES) return refused(path, `it has ${size} bytes, more than ${MAX_BYTES}`);
      const stamp = [dev, ino, size, mtimeNs, ctimeNs].join(':');
      if (last?.stamp !== stamp) last = { stamp, result: parse(path, readFileSync(fd, 'utf8')) };
      return last.result;
    } catch (thrown) {
      return refused(path, reasonOf(thrown));
    } finally {
      closeSync(fd);
    }
  };

  return {
    read,
    update: (change, signal) =>
      withFileLock(
        join(home, 'upstream-approvals.lock'),
        async () => {
          const before = read();
          if (!before.ok) throw new AppError('store_unavailable', before.problem, { fix: before.fix });
          const upstreams = structuredClone([...before.upstreams]);
          const { value, write } = await change(upstreams);
          if (write) place(home, path, upstreams);
          return value;
        },
        signal,
      ),
  };
}

export function findRecord(upstreams: readonly UpstreamRecord[], { project, name }: UpstreamKey): UpstreamRecord | undefined {
  return upstreams.find((one) => one.name === name && one.project === project);
}

/** The record of an upstream, made where there is none. */
export function recordFor(upstreams: UpstreamRecord[], { project, name }: UpstreamKey): UpstreamRecord {
  const there = findRecord(upstreams, { project, name });
  if (there !== undefined) return there;
  const made: UpstreamRecord = { project, name, tools: [] };
  upstreams.push(made);
  return made;
}

/** Under the lock, so the temporary name can be a fixed one: what a killed process left there is replaced. */
function place(home: string, path: string, upstreams: readonly UpstreamRecord[]): void {
  const next = `${path}.next`;
  try {
    rmSync(next, { force: true });
    const text = `${JSON.stringify({ version: VERSION, upstreams }, null, 1)}\n`;
    if (Buffer.byteLength(text) > MAX_BYTES) throw new AppError('store_unavailable', `${path} would have more than ${MAX_BYTES} bytes.`);
    writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(next, path);
    const folder = openSync(home, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (thrown) {
    rmSync(next, { force: true });
    throw toAppError(thrown);
  }
}

function parse(path: string, text: string): ReadRecords {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return refused(path, `it is not JSON (${text.length} characters)`);
  }
  const parsed = fileSchema.safeParse(raw);
  if (parsed.success) return { ok: true, upstreams: parsed.data.upstreams };
  const issue = parsed.error.issues[0];
  return refused(path, `${issue?.path.join('.') || 'its shape'}: ${issue?.message ?? 'not as expected'}`);
}

function refused(path: string, why: string): ReadRecords {
  return {
    ok: false,
    problem: `The record of approved upstreams ${path} can't be used: ${why}. Until that is mended, no upstream of a project and no tool of any upstream is approved.`,
    fix: `Look at the file; put a good copy in its place, or move it away and approve again.`,
  };
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
