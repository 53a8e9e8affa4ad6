import { chmodSync, closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';

/** Where the token of an agent lies, for the program that it is meant for: 0600 in a folder that is 0700. */
export function tokenFile(home: string, name: string): string {
  return join(home, 'tokens', name);
}

/** Whole or not at all; an older token of that name is replaced. */
export function writeToken(home: string, name: string, secret: string): string {
  const folder = join(home, 'tokens');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new AppError('store_unavailable', `${folder} is not a folder.`, { fix: 'Move it away.' });
  chmodSync(folder, 0o700);
  const file = tokenFile(home, name);
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, `${secret}\n`);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, file);
  return file;
}

export function removeToken(home: string, name: string): void {
  const file = tokenFile(home, name);
  if (existsSync(file)) rmSync(file);
}
