import { lstatSync, type Stats } from 'node:fs';

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
  const stat = look(path);
  if (!stat) return 'absent';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
}
