import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { FilesScene } from '../../execution/types.ts';
import { errnoOf } from '../../kernel/errors.ts';
import { fileError, Moved } from './file-error.ts';

export type As = FilesScene['as'];

/** Of Linux, missing in Node's table: a handle to a place, that neither reads nor waits nor rewinds a tape. */
const O_PATH = 0o10000000;
const PLACE = O_PATH | constants.O_NOFOLLOW;
const FOLDER = PLACE | constants.O_DIRECTORY;

const READ = 4;
const WRITE = 2;
const ENTER = 1;

/** Root isn't stopped by the kernel, so the mode bits are asked for the user a run would be. Access lists can only give more. */
function may(stat: Stats, as: As, bits: number): boolean {
  if (process.getuid?.() !== 0) return true;
  const shift = stat.uid === as.uid ? 6 : stat.gid === as.gid ? 3 : 0;
  return ((stat.mode >> shift) & bits) === bits;
}

function refused(path: string, as: As, what: string): Error {
  return fileError('permission', `uid ${as.uid}, which runs here have, may not ${what} ${path}.`);
}

/** A folder that is held open. `name` is how the system calls take it: nothing on the way there can be swapped any more. */
export interface Held {
  readonly name: string;
  readonly stat: Stats;
}

/** Folders that are missing on the way to a new file are made, and given to this user when we are root. */
export type Make = 'nothing' | 'folders';

/**
 * Walks from the root of the host down to a folder, holding each one and following no link (Node has no openat;
 * `/proc/self/fd/N/name` is the same thing), and calls `use` while the last one is held. Everything in it is synchronous, so that
 * no other call of this process comes between two steps.
 */
export function withFolder<T>(path: string, as: As, make: Make, use: (folder: Held) => T): T {
  let fd = openSync('/', FOLDER);
  let at = '';
  try {
    for (const part of path.split('/').filter((one) => one !== '')) {
      const next = `/proc/self/fd/${fd}/${part}`;
      const stat = fstatSync(fd);
      if (!may(stat, as, ENTER)) throw refused(at || '/', as, 'enter');
      const child = step(next, `${at}/${part}`, as, make, stat);
      closeSync(fd);
      fd = child;
      at = `${at}/${part}`;
    }
    const stat = fstatSync(fd);
    if (!may(stat, as, ENTER)) throw refused(at || '/', as, 'enter');
    return use({ name: `/proc/self/fd/${fd}`, stat });
  } finally {
    closeSync(fd);
  }
}

function step(name: string, path: string, as: As, make: Make, parent: Stats): number {
  try {
    return openSync(name, FOLDER);
  } catch (thrown) {
    const code = errnoOf(thrown);
    // A link, or a file, where a folder was a moment ago.
    if (code === 'ELOOP' || code === 'ENOTDIR') throw new Moved(path);
    if (code !== 'ENOENT' || make === 'nothing') throw thrown;
  }
  if (!may(parent, as, WRITE)) throw refused(dirname(path), as, 'write in');
  try {
    mkdirSync(name, { mode: 0o755 });
  } catch (thrown) {
    // Somebody made it in between; opening it says whether it is a folder.
    if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    return step(name, path, as, 'nothing', parent);
  }
  const fd = step(name, path, as, 'nothing', parent);
  try {
    if (as.drop) giveAway(fd, path, as);
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** Only what is root's and empty: somebody could have put another folder of root in the place of the new one. */
function giveAway(place: number, path: string, as: As): void {
  // By its handle, and another one: this kind can't be given away.
  const fd = openSync(`/proc/self/fd/${place}/.`, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (fstatSync(fd).uid !== 0 || readdirSync(`/proc/self/fd/${fd}`).length > 0) throw new Moved(path);
    fchownSync(fd, as.uid, as.gid);
  } finally {
    closeSync(fd);
  }
}

/** What a name in a held folder is; undefined: nothing. */
export function statIn(folder: Held, name: string): Stats | undefined {
  try {
    const fd = openSync(`${folder.name}/${name}`, PLACE);
    try {
      return fstatSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

export function mayReplace(folder: Held, current: Stats | undefined, as: As): boolean {
  if (!may(folder.stat, as, WRITE | ENTER)) return false;
  // In a sticky folder (/tmp) only the owner of a file, or of the folder, may replace it.
  const sticky = (folder.stat.mode & 0o1000) !== 0;
  return process.getuid?.() !== 0 || !sticky || current === undefined || current.uid === as.uid || folder.stat.uid === as.uid;
}

export type Opened =
  /** Close `fd`. */
  | { readonly type: 'file'; readonly fd: number; readonly stat: Stats }
  | { readonly type: 'folder' }
  | { readonly type: 'other'; readonly what: string };

/**
 * Opens a file of the host for reading, by handles all the way. First without opening it in the sense of a program: a pipe would
 * make us wait and a device may do something. Then the same thing, by its handle, for reading.
 */
export function openForReading(path: string, as: As): Opened {
  return withFolder(dirname(path), as, 'nothing', (folder) => {
    const place = openSync(`${folder.name}/${basename(path)}`, PLACE);
    try {
      const stat = fstatSync(place);
      if (stat.isSymbolicLink()) throw new Moved(path);
      if (stat.isDirectory()) return { type: 'folder' };
      if (!stat.isFile()) return { type: 'other', what: kindOf(stat) };
      if (!may(stat, as, READ)) throw refused(path, as, 'read');
      return { type: 'file', fd: openSync(`/proc/self/fd/${place}`, constants.O_RDONLY | constants.O_NONBLOCK), stat };
    } finally {
      closeSync(place);
    }
  });
}

export function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  return stat.isDirectory() ? 'a folder' : 'a device';
}
