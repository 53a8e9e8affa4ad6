import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readlinkSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import type { Found } from './access.ts';
import { draftName, sweepDrafts } from './drafts.ts';
import { fileError, Moved } from './file-error.ts';
import { type As, type Held, kindOf, mayReplace, statIn, withFolder } from './handle.ts';

const NEW_MODE = 0o644;

/** The file that an edit was made from: it is replaced only if it is still that one. */
export type Expected = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

/**
 * Replaces a file by writing a new one beside it and renaming that: readers see the old content or the new one, whatever dies when.
 * Mode and, where it can be, owner and group stay; set-uid and set-gid bits go, as they do when anything writes. As root the file is
 * the Workspace owner's. A hard link to the old content elsewhere keeps that: nothing outside is changed through it.
 */
export function writeAtomically(found: Found, content: Buffer, expected?: Expected): { readonly created: boolean } {
  const { host, path, scene, opened } = found;
  const make = opened ? 'nothing' : 'folders';
  return withFolder(dirname(host), scene.as, make, (folder) => {
    const name = basename(host);
    const current = statIn(folder, name);
    checkCurrent(current, path);
    if (expected && !isSame(current, expected)) {
      throw fileError('changed', `${path} was changed by somebody else since it was read.`, 'Read it again and make the edit anew.');
    }
    if (!mayReplace(folder, current, scene.as) || (current && isReadOnly(folder, name, current, scene.as))) {
      throw fileError('permission', `${path} is not writable for the user that runs here have.`);
    }
    sweepDrafts(folder, Date.now());
    const draft = draftName();
    const fd = openSync(`${folder.name}/${draft}`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      const mode = current === undefined ? NEW_MODE : current.mode & 0o777;
      giveTo(fd, folder, current, scene.as);
      for (let done = 0; done < content.length; ) done += writeSync(fd, content, done);
      fchmodSync(fd, mode);
      // A folder that was moved meanwhile may be another place by now, a protected one even.
      if (readlinkSync(folder.name) !== dirname(host)) throw new Moved(host);
      renameSync(`${folder.name}/${draft}`, `${folder.name}/${name}`);
      if (statIn(folder, name)?.ino !== fstatSync(fd).ino)
        throw fileError('changed', `${path} was replaced by somebody else at the same moment.`);
      return { created: current === undefined };
    } catch (thrown) {
      removeDraft(`${folder.name}/${draft}`);
      throw thrown;
    } finally {
      closeSync(fd);
    }
  });
}

function checkCurrent(current: Stats | undefined, path: string): void {
  if (current === undefined || current.isFile()) return;
  if (current.isSymbolicLink()) throw new Moved(path);
  if (current.isDirectory()) throw fileError('folder', `${path} is a folder.`, 'Name a file in it.');
  throw fileError('not_a_file', `${path} is ${kindOf(current)} and not a file.`);
}

function isSame(current: Stats | undefined, expected: Expected): boolean {
  if (current === undefined) return false;
  return (['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const).every((key) => current[key] === expected[key]);
}

/** Renaming would replace a file that is write-protected, which nothing else here does. */
function isReadOnly(folder: Held, name: string, current: Stats, as: As): boolean {
  if (process.getuid?.() === 0) {
    const shift = current.uid === as.uid ? 6 : current.gid === as.gid ? 3 : 0;
    return ((current.mode >> shift) & 2) === 0;
  }
  try {
    accessSync(`${folder.name}/${name}`, constants.W_OK);
    return false;
  } catch (thrown) {
    return errnoOf(thrown) === 'EACCES' || errnoOf(thrown) === 'EROFS';
  }
}

/** Before anything is in it, so that root's own never lies there for longer than a moment. */
function giveTo(fd: number, folder: Held, current: Stats | undefined, as: As): void {
  const inherited = (folder.stat.mode & 0o2000) !== 0 ? folder.stat.gid : as.gid;
  if (as.drop) fchownSync(fd, as.uid, current !== undefined && current.uid === as.uid ? current.gid : inherited);
  else if (current !== undefined && process.getuid?.() === 0) fchownSync(fd, current.uid, current.gid);
  else if (current !== undefined && current.gid !== fstatSync(fd).gid) {
    try {
      fchownSync(fd, as.uid, current.gid);
    } catch {
      // Not a member of that group: then the file has ours, as anything this user makes.
    }
  }
}

function removeDraft(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    // Renamed already, or moved away with its folder.
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}
