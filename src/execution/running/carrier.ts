import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';

/**
 * A file without a name that a child reads to its end: how bubblewrap gets options and seccomp program without their showing up in a
 * process list, and without a pipe that would have to be fed. The caller closes it once the child has its copy.
 */
export function carry(folder: string, bytes: Uint8Array): number {
  const path = `${folder}/.carrier-${randomBytes(8).toString('hex')}`;
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    unlinkSync(path);
    // Written at a position: the read offset, which the child inherits, stays at the start.
    let done = 0;
    while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, done);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
