import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, unlinkSync, writeSync } from 'node:fs';

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

/**
 * Standard input as such a file: a command that doesn't read it keeps nobody waiting, and one that opens /dev/stdin finds it, which a
 * socket would refuse and a named pipe whose writer is gone would wait for. Whoever has the descriptor can't write through it.
 */
export function carryReadOnly(folder: string, bytes: Uint8Array): number {
  const writable = carry(folder, bytes);
  try {
    // Another uid may have to open it once more.
    fchmodSync(writable, 0o444);
    return openSync(`/proc/self/fd/${writable}`, constants.O_RDONLY);
  } finally {
    closeSync(writable);
  }
}
