import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, errnoOf } from '../kernel/errors.ts';

const KEY_BYTES = 32;

/** A key that only this home has. */
export interface KeyFile {
  /** Name of the file in the home; it ends in `.key`. */
  readonly name: string;
  /** What a person calls it: "signing key". */
  readonly what: string;
  readonly fix: string;
}

/** 32 random bytes, 0600. AppError store_unavailable where the file can't be trusted. */
export function readKey(home: string, file: KeyFile): KeyObject | undefined {
  let fd: number;
  try {
    fd = openSync(join(home, file.name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw badKey(home, file, thrown);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size !== KEY_BYTES) throw new Error(`not a regular file of ${KEY_BYTES} bytes`);
    // What others could read is no secret any more.
    if ((stat.mode & 0o077) !== 0) throw new Error('others than its owner may read it');
    return createSecretKey(readFileSync(fd));
  } catch (thrown) {
    throw badKey(home, file, thrown);
  } finally {
    closeSync(fd);
  }
}

/** Makes the key, or reads the one that another process made meanwhile: a hard link appears whole or not at all. */
export function makeKey(home: string, file: KeyFile): KeyObject {
  const temporary = join(home, `${file.name.replace(/\.key$/, '')}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      fchmodSync(fd, 0o600);
      writeFileSync(fd, randomBytes(KEY_BYTES));
      fsyncSync(fd);
      linkSync(temporary, join(home, file.name));
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    } finally {
      closeSync(fd);
      rmSync(temporary, { force: true });
    }
  } catch (thrown) {
    throw badKey(home, file, thrown);
  }
  const key = readKey(home, file);
  if (key === undefined) throw badKey(home, file, new Error('it vanished again'));
  return key;
}

function badKey(home: string, { name, what, fix }: KeyFile, cause: unknown): AppError {
  if (errnoOf(cause) === 'ENOSPC' || errnoOf(cause) === 'EDQUOT') {
    return new AppError('disk_full', `No space is left to make the ${what} of the Writ home.`, { fix: 'Free some space.', cause });
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_unavailable', `The ${what} ${join(home, name)} can't be used: ${why}.`, { fix, cause });
}
