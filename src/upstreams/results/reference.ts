import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { normalize } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import { MAX_MEDIA_TYPE } from './content.ts';

/** `odek.artifact-ref/v1`: a file on this machine that a result points to in place of carrying it. */
export interface ArtifactReference {
  readonly id: string;
  readonly uri: string;
  readonly media_type: string;
  /** Lower-case hexadecimal. */
  readonly sha256?: string;
  readonly size_bytes?: number;
  readonly summary?: string;
}

export type ReferenceRead = { readonly ok: true; readonly reference: ArtifactReference } | { readonly ok: false; readonly reason: string };

const SCHEMA = 'odek.artifact-ref/v1';
export const MAX_FILE_BYTES = 64 * 1024 ** 2;
const MAX_PATH = 4096;

/** Unknown members mean nothing; a known one that isn't right refuses the whole. */
export function readReference(raw: unknown): ReferenceRead {
  if (!isObject(raw)) return no('it is no object');
  const { schema, id, uri, media_type, sha256, size_bytes, summary } = raw;
  if (schema !== SCHEMA) return no(`its schema is not ${SCHEMA}`);
  if (!isFilled(id)) return no('it has no id');
  if (!isFilled(uri)) return no('it has no uri');
  if (!isFilled(media_type) || media_type.length > MAX_MEDIA_TYPE) return no('it has no media_type');
  if (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)))
    return no('its sha256 is not 64 lower-case hexadecimal digits');
  if (size_bytes !== undefined && !(typeof size_bytes === 'number' && Number.isSafeInteger(size_bytes) && size_bytes >= 0))
    return no('its size_bytes is no size');
  if (summary !== undefined && typeof summary !== 'string') return no('its summary is no text');
  const given = {
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(size_bytes === undefined ? {} : { size_bytes }),
    ...(summary === undefined ? {} : { summary }),
  };
  return { ok: true, reference: { id, uri, media_type, ...given } };
}

/** What of a reference says which file it is. */
export type FileReference = Pick<ArtifactReference, 'uri' | 'sha256' | 'size_bytes'>;

/** What tells that a file is still the one that was looked at. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly changed: string;
}

export type Opened =
  /** Close `handle`. */
  { readonly ok: true; readonly handle: FileHandle; readonly identity: FileIdentity } | { readonly ok: false; readonly reason: string };

export interface Where {
  readonly roots: readonly string[];
  /** Real path; nothing in it is ever handed out this way. */
  readonly writ_home: string;
}

/**
 * Opens the file of a reference, or says what is wrong with it. The same look when a result comes in and at every read: the path is
 * clean, its real path lies in a real root, and what was opened is a plain file, there and nowhere else, of the size and the digest
 * that were declared. Swapping folders or links on the way leads to a refusal, since the handle is asked where it leads.
 */
export async function openReference(reference: FileReference, { roots, writ_home }: Where, signal: AbortSignal): Promise<Opened> {
  const filled = roots.filter((root) => root.trim() !== '');
  if (filled.length === 0) return no('no artifact_roots are configured for this server');
  const path = pathOf(reference.uri);
  if (!path.ok) return path;
  const found = await realOf(path.path);
  if (!found.ok) return found;
  const real = found.path;
  const realRoots = (await Promise.all(filled.map(realOf))).flatMap((root) => (root.ok ? [root.path] : []));
  const fit = realRoots.filter((root) => root !== '/' && !isIn(writ_home, root) && !isIn(root, writ_home));
  if (!fit.some((root) => isIn(real, root) && real !== root)) return no('it lies outside of every artifact root');
  let handle: FileHandle | undefined;
  try {
    // Opening a device may do something, so that it is looked at before.
    if (!(await lstat(real)).isFile()) return no('it is no plain file');
    handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const wrong = await problemOf(handle, real, reference, signal);
    if (wrong.reason !== undefined) return no(wrong.reason);
    const opened = handle;
    handle = undefined;
    return { ok: true, handle: opened, identity: identityOf(wrong.stat) };
  } catch (thrown) {
    signal.throwIfAborted();
    return no(`it can't be opened (${errnoOf(thrown) ?? 'unknown error'})`);
  } finally {
    await handle?.close();
  }
}

async function problemOf(
  handle: FileHandle,
  real: string,
  { sha256, size_bytes }: FileReference,
  signal: AbortSignal,
): Promise<{ readonly stat: BigIntStats; readonly reason?: string }> {
  const stat = await handle.stat({ bigint: true });
  const because = (reason: string) => ({ stat, reason });
  if (!stat.isFile()) return because('it is no plain file');
  if ((await whereIs(handle, real, stat)) !== real) return because('the way to it changed while it was opened');
  if (stat.size > MAX_FILE_BYTES) return because(`it has ${stat.size} bytes, more than ${MAX_FILE_BYTES}`);
  if (size_bytes !== undefined && BigInt(size_bytes) !== stat.size) return because(`it has ${stat.size} bytes and not ${size_bytes}`);
  if (sha256 !== undefined) {
    const digest = await digestOf(handle, Number(stat.size), signal);
    if (digest === undefined) return because('it changes while it is read');
    if (digest !== sha256) return because('its content has another sha256');
  }
  return { stat };
}

/** The place that a handle leads to, whatever has become of the names on the way. */
async function whereIs(handle: FileHandle, real: string, stat: BigIntStats): Promise<string | undefined> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`);
  const again = await lstat(real, { bigint: true });
  return again.dev === stat.dev && again.ino === stat.ino ? realpath(real) : undefined;
}

async function digestOf(handle: FileHandle, size: number, signal: AbortSignal): Promise<string | undefined> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(256 * 1024);
  let done = 0;
  // One more than there were: a file that grows is not the one that was measured.
  while (done <= size) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, size + 1 - done), done);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    done += bytesRead;
  }
  return done === size ? hash.digest('hex') : undefined;
}

function identityOf(stat: BigIntStats): FileIdentity {
  return { dev: String(stat.dev), ino: String(stat.ino), size: Number(stat.size), changed: `${stat.mtimeNs} ${stat.ctimeNs}` };
}

/** Nothing is repaired: a path that could be read in two ways is none. */
function pathOf(uri: string): { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string } {
  const [, rest] = /^file:\/\/(\/[^?#\\]*)$/.exec(uri) ?? [];
  if (rest === undefined) return no('its uri is no file:///absolute/path without host, query and fragment');
  let path: string;
  try {
    path = decodeURIComponent(rest);
  } catch {
    return no('its uri is not encoded properly');
  }
  if (/%2f/i.test(rest) || /\p{Cc}/u.test(path) || path.length > MAX_PATH) return no('its uri holds what no path holds');
  if (normalize(path) !== path || path.endsWith('/')) return no('its path is not clean');
  return { ok: true, path };
}

async function realOf(
  path: string,
): Promise<{ readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string }> {
  try {
    return { ok: true, path: await realpath(path) };
  } catch (thrown) {
    const errno = errnoOf(thrown);
    return no(errno === 'ENOENT' || errno === 'ENOTDIR' ? 'there is no such file' : `it can't be found (${errno ?? 'unknown error'})`);
  }
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
