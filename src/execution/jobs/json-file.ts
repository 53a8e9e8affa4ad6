import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ZodType } from 'zod';
import { errnoOf } from '../../kernel/errors.ts';
import { removeHidden, writeHidden } from '../running/hidden-file.ts';

/**
 * Small JSON files of a folder: written whole or not at all (a temporary name, then rename or link), read with their format
 * version. Everything here is synchronous: the files are a few KB, the order of the writes is the point, and a round trip
 * through the thread pool costs more than the write.
 */
const FORMAT = 1;

/** A result with three full views is about 2.5 MB in the worst escaping; anything bigger was not written by Writ. */
const MAX_BYTES = 16 * 1024 * 1024;

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly missing: boolean; readonly reason: string };

/** `durable` waits until file and folder entry are on the disk: only where a lost record could cost a second run. */
export interface WriteOptions {
  readonly durable: boolean;
}

/** Writes `name` into a folder that nobody can see yet. */
export function placeJson(folder: string, name: string, value: object, options: WriteOptions): void {
  renameSync(hide(folder, name, value, options), join(folder, name));
}

export function placeFile(path: string, content: string | Uint8Array, options: WriteOptions): void {
  writeFileSync(path, content, { mode: 0o600, flag: 'wx', flush: options.durable });
}

/** Writes or replaces `name`. */
export function writeJson(folder: string, name: string, value: object, options: WriteOptions): void {
  const hidden = hide(folder, name, value, options);
  try {
    renameSync(hidden, join(folder, name));
  } catch (thrown) {
    removeHidden(hidden);
    throw thrown;
  }
  if (options.durable) syncPath(folder);
}

/** Writes `name` unless it exists: of any number of processes exactly one gets true, and nobody ever sees half of it. */
export function createJson(folder: string, name: string, value: object, options: WriteOptions): boolean {
  const hidden = hide(folder, name, value, options);
  try {
    linkSync(hidden, join(folder, name));
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  } finally {
    removeHidden(hidden);
  }
  if (options.durable) syncPath(folder);
  return true;
}

export function readJson<T>(folder: string, name: string, schema: ZodType<T>): Read<T> {
  const path = join(folder, name);
  let text: string;
  try {
    // Most often some of a folder's files are not there, and an exception costs more than a look.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { ok: false, missing: true, reason: `${name} is not there` };
    text = readBounded(path);
  } catch (thrown) {
    const errno = errnoOf(thrown);
    return { ok: false, missing: errno === 'ENOENT' || errno === 'ENOTDIR', reason: `${name} can't be read: ${describe(thrown)}` };
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { ok: false, missing: false, reason: `${name} is not JSON (${text.length} characters)` };
  }
  const version = typeof raw === 'object' && raw !== null && 'version' in raw ? raw.version : undefined;
  if (version !== FORMAT) {
    return { ok: false, missing: false, reason: `${name} has format version ${JSON.stringify(version)}; this Writ reads ${FORMAT}` };
  }
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  return { ok: false, missing: false, reason: `${name}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'has another shape'}` };
}

/** Puts what was written to a file, or the entries of a folder, on the disk. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function describe(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function hide(folder: string, name: string, value: object, options: WriteOptions): string {
  return writeHidden(folder, name, JSON.stringify({ version: FORMAT, ...value }), options.durable);
}

function readBounded(path: string): string {
  // NONBLOCK and NOFOLLOW: a FIFO or a link of this name is answered as unreadable, not waited for or followed.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const file = fstatSync(fd);
    if (!file.isFile()) throw new Error('it is not a plain file');
    if (file.size > MAX_BYTES) throw new Error(`it has ${file.size} bytes, more than the ${MAX_BYTES} that Writ would write`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
