import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import type { RunAs } from './run-as.ts';

/** Mode bits alone: what a user without capabilities may do there. Access lists are not looked at, and can only give more. */
function may(path: string, as: Pick<RunAs, 'uid' | 'gid'>, bit: 1 | 4, looks: Looks): boolean {
  const stat = looks.follow(path);
  if (stat === undefined) return false;
  const shift = stat.uid === as.uid ? 6 : stat.gid === as.gid ? 3 : 0;
  return ((stat.mode >> shift) & bit) !== 0;
}

/**
 * Whether the run's user on the host gets to this path at all. bubblewrap looks every source up as that user, and one it can't
 * reach fails the whole run; so it is better known before, with a reason.
 */
export function reaches(path: string, as: Pick<RunAs, 'uid' | 'gid'>, looks: Looks = PLAIN_LOOKS): boolean {
  const self = process.getuid?.();
  if (self !== 0) return looks.ask(() => isReadable(path));
  // Root without capabilities is a user like any other, so the bits decide for it too.
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!may(folder, as, 1, looks)) return false;
    if (folder === '/') return may(path, as, 4, looks);
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
