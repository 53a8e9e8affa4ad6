import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs';

export type Kind = 'file' | 'folder' | 'link' | 'other' | 'absent';

/**
 * Looks without following a link. Synchronous on purpose, here and in the files beside it: a plan needs some dozens of looks of
 * a few microseconds each, and the same through the thread pool would cost more than starting the sandbox.
 */
export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent that is no folder, or may not be entered: for the plan that is "not there".
    return undefined;
  }
}

export function kindOf(path: string): Kind {
  return kindOfStat(look(path));
}

export function kindOfStat(stat: Stats | undefined): Kind {
  if (!stat) return 'absent';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
}

/** The path with every link resolved, or undefined where something on the way is missing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/**
 * A small file's text; undefined for what is no plain file, is larger, or can't be read. Files that others can write are opened
 * without following a link and without waiting, so that a pipe in their place can't hold us up. `follow` is for the person's own.
 */
export function readSmall(path: string, options: { readonly max?: number; readonly follow?: boolean } = {}): string | undefined {
  return readSmallBytes(path, options)?.toString('utf8');
}

export function readSmallBytes(
  path: string,
  { max = 65_536, follow = false }: { readonly max?: number; readonly follow?: boolean } = {},
): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW));
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > max) return undefined;
    const bytes = Buffer.allocUnsafe(stat.size);
    return bytes.subarray(0, readSync(fd, bytes, 0, stat.size, 0));
  } catch {
    // Absent or not ours to read: the same to every caller.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
