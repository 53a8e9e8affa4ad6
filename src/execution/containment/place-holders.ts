import { closeSync, constants, fchownSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import type { RunSpec } from '../types.ts';
import { openingRefusal, type Persons } from './forbidden.ts';
import { kindOf } from './look.ts';

/** Of Linux, missing in Node's table: a handle to a place that needs no right to read it. */
const O_PATH = 0o10000000;

export interface PlaceHolders {
  /** To be kept where the next process finds it, should this one be killed. */
  readonly placed: readonly Placed[];
  /**
   * Takes away what the run has left as it was. After the run's tree is dead, or when it never started. A run that went well was content
   * with a folder as it is: `mkdir -p` makes nothing of one that is there.
   */
  clear(wentWell?: boolean): void;
}

/** One that was made, and how it is recognised as untouched. Numbers as text: they don't fit into JSON. */
export interface Placed {
  readonly path: string;
  readonly folder: boolean;
  readonly ino: string;
  readonly changed: string;
}

/**
 * Only what exists can be bound, so a path that was opened for writing and doesn't exist yet gets an empty file in its place (or a
 * folder, where one was asked for), which belongs to whoever the run is. It stays when the run has written it, renamed over it or as much
 * as touched it, and goes otherwise. The folder it lies in must exist: it is not opened itself, and nothing else can be made there.
 */
export function placeMissing(
  openings: RunSpec['openings'],
  persons: Persons,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): PlaceHolders {
  const placed: Placed[] = [];
  const clear = (wentWell = false): void => {
    clearPlaced(placed.splice(0).filter(({ folder }) => !(wentWell && folder)));
  };
  try {
    for (const { path, access, make } of openings) {
      if (access !== 'write' || kindOf(path) !== 'absent' || openingRefusal(path, persons) !== undefined) continue;
      placed.push(place(path, make === 'folder', owner));
    }
  } catch (thrown) {
    clear();
    throw thrown;
  }
  return { placed: [...placed], clear };
}

function place(path: string, folder: boolean, owner: { readonly uid: number; readonly gid: number } | undefined): Placed {
  const refuse = (why: string): never => {
    throw new AppError('invalid_arguments', `${path} can't be opened for this run: ${why}.`, {
      fix: 'Ask for a path whose folder exists, by its real name.',
    });
  };
  const parent = dirname(path);
  let held: number | undefined;
  try {
    held = openSync(parent, O_PATH | constants.O_DIRECTORY);
    // Held from here on: a folder that is swapped for a link leads nowhere else.
    if (readlinkSync(`/proc/self/fd/${held}`) !== parent) return refuse('its folder is reached through a link');
    const name = `/proc/self/fd/${held}/${basename(path)}`;
    if (folder) mkdirSync(name, { mode: 0o755 });
    const flags = folder ? constants.O_RDONLY | constants.O_DIRECTORY : constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    const fd = openSync(name, flags | constants.O_NOFOLLOW, 0o644);
    try {
      if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
      const { ino, mtimeNs } = fstatSync(fd, { bigint: true });
      return { path, folder, ino: String(ino), changed: String(mtimeNs) };
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
    return refuse(code === 'ENOENT' ? 'neither it nor its folder exists' : `it can't be made there (${code})`);
  } finally {
    if (held !== undefined) closeSync(held);
  }
}

/** For what an earlier process has made. Again and again is once. */
export function clearPlaced(placed: readonly Placed[]): void {
  for (const one of placed) remove(one);
}

function remove({ path, folder, ino, changed }: Placed): void {
  try {
    const now = lstatSync(path, { bigint: true });
    if (String(now.ino) !== ino || String(now.mtimeNs) !== changed || (!folder && now.size > 0n)) return;
    // A folder that isn't empty is not removed by this.
    if (folder) rmdirSync(path);
    else unlinkSync(path);
  } catch {
    // Gone or moved by the run: then there is nothing of ours.
  }
}
