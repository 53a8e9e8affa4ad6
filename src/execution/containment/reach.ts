import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunAs } from './run-as.ts';

/** Mode bits alone: what a user without capabilities may do there. Access lists are not looked at, and can only give more. */
function may(path: string, as: RunAs, bit: 1 | 4): boolean {
  try {
    const { mode, uid, gid } = statSync(path);
    const shift = uid === as.uid ? 6 : gid === as.gid ? 3 : 0;
    return ((mode >> shift) & bit) !== 0;
  } catch {
    return false;
  }
}

/**
 * Whether the run's user on the host gets to this path at all. bubblewrap looks every source up as that user, and one it can't
 * reach fails the whole run; so it is better known before, with a reason.
 */
export function reaches(path: string, as: RunAs): boolean {
  const self = process.getuid?.();
  if (self !== 0) {
    try {
      accessSync(path, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  }
  // Root without capabilities is a user like any other, so the bits decide for it too.
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!may(folder, as, 1)) return false;
    if (folder === '/') return may(path, as, 4);
  }
}
