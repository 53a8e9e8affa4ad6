import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';
import { sha256Hex } from './chain.ts';

/** The key that signs checkpoints: Ed25519, PKCS#8, `audit/key.pem` in the Writ home, 0600. */
export interface SigningKey {
  readonly private: KeyObject;
  readonly public: PublicKey;
}

export interface PublicKey {
  readonly key: KeyObject;
  /** SPKI DER in base64: what is printed and exported. */
  readonly text: string;
  /** SHA-256 of `text`'s bytes: short enough to compare and to keep elsewhere. */
  readonly fingerprint: string;
}

export function auditDirectory(home: string): string {
  return join(home, 'audit');
}

function keyFile(directory: string): string {
  return join(directory, 'key.pem');
}

/** The key, or undefined while there is none. Throws AppError `store_unavailable` when the file isn't a usable key. */
export function readKey(directory: string): SigningKey | undefined {
  const file = keyFile(directory);
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw badKey(file, thrown);
  }
  try {
    const { mode } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error('not a regular file');
    const key = createPrivateKey(readFileSync(fd, 'utf8'));
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(`a key of type ${key.asymmetricKeyType}, not ed25519`);
    // Readable by others: what was signed until now stays proved, so mend it and go on.
    if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
    return { private: key, public: publicKeyFrom(createPublicKey(key)) };
  } catch (thrown) {
    throw badKey(file, thrown);
  } finally {
    closeSync(fd);
  }
}

/** Makes the key, or returns the one that another process made meanwhile: a hard link appears whole or not at all. */
export function makeKey(directory: string): SigningKey {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, `key.${randomBytes(6).toString('hex')}.tmp`);
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(fd, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
    fsyncSync(fd);
    linkSync(temporary, keyFile(directory));
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
  const key = readKey(directory);
  if (key === undefined) throw badKey(keyFile(directory), new Error('it vanished again'));
  return key;
}

/** Reads a public key as `text` gives it. Throws AppError `invalid_arguments`. */
export function parsePublicKey(text: string): PublicKey {
  try {
    return publicKeyFrom(createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }));
  } catch (thrown) {
    throw new AppError('invalid_arguments', 'This is not an Ed25519 public key in base64 SPKI form.', { cause: thrown });
  }
}

function publicKeyFrom(key: KeyObject): PublicKey {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`a key of type ${key.asymmetricKeyType}, not ed25519`);
  const text = key.export({ type: 'spki', format: 'der' }).toString('base64');
  return { key, text, fingerprint: sha256Hex(text) };
}

function badKey(file: string, cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('store_unavailable', `The audit signing key ${file} can't be used: ${why}.`, {
    fix: 'Restore it from a backup. Without it nothing new is sealed, and what was sealed can only be checked with the public key of an export.',
    cause,
  });
}
