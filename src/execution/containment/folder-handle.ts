import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { kindOf } from './look.ts';
import { openUp } from './open-up.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** What is to happen where the way down meets something that isn't a plain folder. */
export interface WalkOptions {
  /** Make what is missing and move aside what is in the way; otherwise the walk ends there. */
  readonly make: boolean;
  /** Root gives the folders it makes to this user. */
  readonly give_to?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Walks from a folder of ours down a path that others can write in, holding each folder open, and calls `use` with a name for
 * the last one that can't be redirected by swapping a folder for a link on the way (Node has no openat; /proc/self/fd/N/name is
 * the same thing). Undefined: the way isn't there.
 */
export function withFolder<T>(root: string, parts: readonly string[], options: WalkOptions, use: (folder: string) => T): T | undefined {
  let fd = openFolder(root);
  try {
    for (const part of parts) {
      const child = step(`/proc/self/fd/${fd}/${part}`, options);
      if (child === undefined) return undefined;
      closeSync(fd);
      fd = child;
    }
    return use(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

function step(path: string, options: WalkOptions): number | undefined {
  const kind = kindOf(path);
  if (kind !== 'folder') {
    if (!options.make) return undefined;
    if (kind !== 'absent') moveAside(path);
    try {
      mkdirSync(path, { mode: 0o755 });
    } catch (error) {
      // Somebody made it in between; the open below says whether it is a folder.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  const fd = openFolder(path);
  if (options.give_to && kind !== 'folder' && fstatSync(fd).uid === 0) fchownSync(fd, options.give_to.uid, options.give_to.gid);
  return fd;
}

function openFolder(path: string): number {
  try {
    return openSync(path, FOLDER);
  } catch (error) {
    if (!openUp(path)) throw error;
    return openSync(path, FOLDER);
  }
}

/** Keeps what was there under another name beside it. */
export function moveAside(path: string): void {
  renameSync(path, `${path}.displaced-${Date.now()}`);
}
