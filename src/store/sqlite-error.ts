import { AppError } from '../kernel/errors.ts';

/** Primary result codes of SQLite (https://sqlite.org/rescode.html); the low byte of every extended code. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

function sqliteCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return undefined;
  return thrown.errcode & 0xff;
}

export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown);
  return code === BUSY || code === LOCKED;
}

export function isFull(thrown: unknown): boolean {
  return sqliteCode(thrown) === FULL;
}

const OUT_OF_REACH = new Set(['EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR']);

/** Whatever node:sqlite threw, as an AppError that says what a person does about this file. */
export function storeError(thrown: unknown, file: string): AppError {
  if (thrown instanceof AppError) return thrown;
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const unavailable = (message: string, fix: string): AppError => new AppError('store_unavailable', message, { fix, cause: thrown });
  switch (sqliteCode(thrown)) {
    case FULL:
      return new AppError('disk_full', `No space is left for the database ${file}.`, {
        fix: 'Free some space, or move the Writ home with WRIT_HOME.',
        cause: thrown,
      });
    case BUSY:
    case LOCKED:
      return unavailable(
        `Another process has kept the database ${file} locked for too long.`,
        'Look for a stopped or stuck `writ` process (or a database tool) that has the file open, and end it.',
      );
    case CORRUPT:
    case NOTADB:
      return unavailable(
        `The database ${file} is damaged (${words}).`,
        `Nothing was changed. Stop every writ process, move ${file} and its -wal and -shm files aside together, and restore a backup, or start ` +
          'again with an empty database. Keep audit/checkpoints.jsonl: it proves what the damaged file once held.',
      );
    case READONLY:
    case CANTOPEN:
      return unavailable(
        `The database ${file} can't be opened for writing (${words}).`,
        'Check that its folder exists, belongs to you and is on a disk that is mounted read-write.',
      );
    case IOERR:
      return unavailable(
        `Reading or writing the database ${file} failed (${words}).`,
        'Check the disk and its file system; nothing is run while the record cannot be written.',
      );
    default:
      break;
  }
  if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT')) {
    return new AppError('disk_full', `No space is left on the disk that holds ${file}.`, {
      fix: 'Free some space, or move the Writ home with WRIT_HOME.',
      cause: thrown,
    });
  }
  if (thrown instanceof Error && 'code' in thrown && OUT_OF_REACH.has(String(thrown.code))) {
    return unavailable(`Writ may not use ${file} (${words}).`, 'Check who owns the Writ home and that its disk is mounted read-write.');
  }
  return new AppError('internal', `The database ${file} refused a request: ${words}`, { cause: thrown });
}
