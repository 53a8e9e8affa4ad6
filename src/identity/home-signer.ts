import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';

const KEY_BYTES = 32;

/** What this Writ home gives out and must get back unchanged; any process of the same home knows it again. */
export interface HomeSigner {
  /** HMAC-SHA256 in base64url. The first call reads the key, or makes it; AppError store_unavailable where it can't be used. */
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/** Signs with `signing.key` of the home: 32 random bytes, 0600. Whoever uses it tells its texts apart from those of others. */
export function createHomeSigner(home: string): HomeSigner {
  let key: KeyObject | undefined;

  function mac(text: string): Buffer {
    key ??= readKey(home) ?? makeKey(home);
    return createHmac('sha256', key).update(text).digest();
  }

  return {
    sign: (text) => mac(text).toString('base64url'),
    verify(text, signature) {
      const given = Buffer.from(signature, 'base64url');
      const right = mac(text);
      // Decoding is lenient: only the one spelling of these bytes counts.
      return given.length === right.length && timingSafeEqual(given, right) && given.toString('base64url') === signature;
    },
  };
}

function fileOf(home: string): string {
  return join(home, 'signing.key');
}

function readKey(home: string): KeyObject | undefined {
  let fd: number;
  try {
    fd = openSync(fileOf(home), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw badKey(home, thrown);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size !== KEY_BYTES) throw new Error(`not a regular file of ${KEY_BYTES} bytes`);
    // What others could read they could also sign with, and what is signed lives for minutes: a new one costs nobody much.
    if ((stat.mode & 0o077) !== 0) throw new Error('others than its owner may read it');
    return createSecretKey(readFileSync(fd));
  } catch (thrown) {
    throw badKey(home, thrown);
  } finally {
    closeSync(fd);
  }
}

/** Makes the key, or reads the one that another process made meanwhile: a hard link appears whole or not at all. */
function makeKey(home: string): KeyObject {
  const temporary = join(home, `signing.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      fchmodSync(fd, 0o600);
      writeFileSync(fd, randomBytes(KEY_BYTES));
      fsyncSync(fd);
      linkSync(temporary, fileOf(home));
    } catch (thrown) {
      if (!isErrno(thrown, 'EEXIST')) throw thrown;
    } finally {
      closeSync(fd);
      rmSync(temporary, { force: true });
    }
  } catch (thrown) {
    throw badKey(home, thrown);
  }
  const key = readKey(home);
  if (key === undefined) throw badKey(home, new Error('it vanished again'));
  return key;
}

function isErrno(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

function badKey(home: string, cause: unknown): AppError {
  if (isErrno(cause, 'ENOSPC') || isErrno(cause, 'EDQUOT')) {
    return new AppError('disk_full', 'No space is left to make the signing key of the Writ home.', { fix: 'Free some space.', cause });
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_unavailable', `The signing key ${fileOf(home)} can't be used: ${why}.`, {
    fix: 'Remove the file: a new one is made, and questions and sessions that are open now begin again.',
    cause,
  });
}
