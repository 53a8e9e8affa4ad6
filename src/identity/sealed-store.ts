import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, errnoOf, toAppError } from '../kernel/errors.ts';
import { readPlainFile } from '../kernel/plain-file.ts';
import { makeKey, readKey } from './key-file.ts';

const KEY = {
  name: 'secrets.key',
  what: 'key of the stored secrets',
  fix: 'Put the right file back; without it the secrets have to be set again: remove it and the secrets.',
} as const;

const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;
const MAX_VALUE = 64 * 1024;
const MAX_ENTRIES = 1_000;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of an entry: what the rest is made of. */
const FORMAT = 1;

export type Unsealed =
  | { readonly state: 'value'; readonly value: string }
  | { readonly state: 'absent' }
  /** It is there and can't be read: changed, cut, or sealed with another key. */
  | { readonly state: 'corrupt'; readonly why: string };

/**
 * Texts that stand encrypted in a folder of the home, one file each: a damaged one takes no other along, and each is written whole or not
 * at all. It keeps what is copied, synced or printed from being of use; whoever may read the home as this user has the key as well.
 */
export interface SealedStore {
  get(name: string): Unsealed;
  /** At most 64 KiB; an older one of that name is replaced. AppError invalid_arguments, store_unavailable, disk_full. */
  set(name: string, value: string): void;
  /** False: there was none. */
  remove(name: string): boolean;
  /** Names in order; values of them are nobody's to list. */
  list(): readonly string[];
}

export function createSealedStore(home: string, folderName: string): SealedStore {
  const folder = join(home, folderName);
  const read = (): KeyObject | undefined => readKey(home, KEY);
  /** A sealed text is bound to where it stands: it can't be moved to another name. */
  const bound = (name: string): Buffer => Buffer.from(`${folderName}\0${name}`);

  function list(): readonly string[] {
    try {
      return readdirSync(folder)
        .filter((name) => NAME.test(name))
        .sort();
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return [];
      throw unusable(folder, thrown);
    }
  }

  /** A new key where others were sealed with one that is gone would hide that they are lost. */
  function keyForWriting(): KeyObject {
    const key = read();
    if (key !== undefined) return key;
    if (list().length > 0) {
      throw new AppError('store_unavailable', `${join(home, KEY.name)} is gone, and the secrets in ${folder} can't be read without it.`, {
        fix: 'Put it back, or `writ secret remove` them and set them again.',
      });
    }
    return makeKey(home, KEY);
  }

  return {
    list,
    get(name) {
      if (!NAME.test(name)) return { state: 'absent' };
      const file = readPlainFile(join(folder, name), MAX_VALUE + 64);
      if (file.state === 'absent') return { state: 'absent' };
      if (file.state === 'refused') return { state: 'corrupt', why: file.why };
      const { bytes } = file;
      const key = read();
      if (key === undefined) return { state: 'corrupt', why: `${KEY.name} is gone` };
      if (bytes[0] !== FORMAT || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) return { state: 'corrupt', why: 'it is no sealed text' };
      const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
      const sealed = bytes.subarray(1 + NONCE_BYTES, bytes.length - TAG_BYTES);
      try {
        const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(name));
        cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
        return { state: 'value', value: Buffer.concat([cipher.update(sealed), cipher.final()]).toString('utf8') };
      } catch {
        // All that is known: it isn't what was sealed here under this name with this key.
        return { state: 'corrupt', why: 'it was changed, or sealed with another key' };
      }
    },
    set(name, value) {
      if (!NAME.test(name)) {
        throw new AppError('invalid_arguments', `${JSON.stringify(name.slice(0, 80))} can't be the name of a secret.`, {
          fix: 'Use 1 to 128 letters, digits, "_", "-" or "."; not "." first.',
        });
      }
      if (value === '' || Buffer.byteLength(value) > MAX_VALUE) {
        throw new AppError('invalid_arguments', `A secret has 1 to ${MAX_VALUE} bytes.`);
      }
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const key = keyForWriting();
        const names = list();
        if (names.length >= MAX_ENTRIES && !names.includes(name)) throw new AppError('busy', `There are ${MAX_ENTRIES} secrets already.`);
        const nonce = randomBytes(NONCE_BYTES);
        const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(name));
        const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
        place(folder, name, Buffer.concat([Buffer.of(FORMAT), nonce, sealed, cipher.getAuthTag()]));
      } catch (thrown) {
        throw toAppError(thrown);
      }
    },
    remove(name) {
      if (!NAME.test(name)) return false;
      try {
        rmSync(join(folder, name));
        return true;
      } catch (thrown) {
        if (errnoOf(thrown) === 'ENOENT') return false;
        throw unusable(folder, thrown);
      }
    },
  };
}

function place(folder: string, name: string, bytes: Buffer): void {
  // A leading dot: it is no name of an entry, whenever this ends.
  const next = join(folder, `.${name}.${randomBytes(4).toString('hex')}`);
  try {
    writeFileSync(next, bytes, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(next, join(folder, name));
  } catch (thrown) {
    rmSync(next, { force: true });
    throw thrown;
  }
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function unusable(folder: string, cause: unknown): AppError {
  return new AppError('store_unavailable', `The secrets in ${folder} can't be used: ${cause instanceof Error ? cause.message : ''}.`, {
    fix: 'Make it a folder of this user.',
    cause,
  });
}
