import { statSync } from 'node:fs';

/** Undefined: nothing can be got at by this name. Tells whether a connection still writes to what others find under it. */
export function inodeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined;
  }
}
