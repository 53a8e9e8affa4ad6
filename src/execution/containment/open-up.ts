import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';

/** Of Linux, missing in Node's table: a handle to a place that needs no right to read it. */
const O_PATH = 0o10000000;

/**
 * A run has our own uid where Writ is no root, so it can take our rights to its folders away (`chmod 0 DIR`) to keep us from
 * looking and clearing up. Gives them back to the owner, us; a link is never followed. False: nothing changed.
 */
export function openUp(folder: string, options: { readonly follow?: boolean } = {}): boolean {
  let fd: number | undefined;
  try {
    fd = openSync(folder, O_PATH | constants.O_DIRECTORY | (options.follow === true ? 0 : constants.O_NOFOLLOW));
    const { uid, mode } = fstatSync(fd);
    if (uid !== process.getuid?.() || (mode & 0o700) === 0o700) return false;
    chmodSync(`/proc/self/fd/${fd}`, (mode & 0o7777) | 0o700);
    return true;
  } catch {
    // Gone, no folder, or somebody else's.
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
