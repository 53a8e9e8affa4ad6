import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** Longer paths don't fit the address of a Unix socket. */
const MAX_PATH_BYTES = 100;

/** Where `writ up` of a Writ home listens for the `writ mcp` of its user: a folder that is 0700. Undefined: its path is too long for a socket. */
export function socketPath(home: string): string | undefined {
  const path = join(home, 'writ.sock');
  return fitsSocket(path) ? path : undefined;
}

export function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES;
}

/** Whether a socket of this user is there; whether anybody listens on it is another question. */
export function isOwnSocket(path: string, uid: number): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isSocket() === true && stat.uid === uid;
  } catch {
    return false;
  }
}
