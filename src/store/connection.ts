import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../kernel/errors.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from './migrations.ts';
import { isBusy, storeError } from './sqlite-error.ts';
import type { Session, SqlValue } from './statement.ts';

/** Prepared statements kept per connection. Beyond it the one unused for longest goes; it is prepared again when needed. */
const MAX_STATEMENTS = 128;

/** How long opening and migrating wait for another process, in ms. Writes have their own wait (transaction.ts). */
const OPEN_TIMEOUT = 5_000;

/** Pages in the write-ahead log after which they are moved, which costs two flushes however many they are: 16 MiB. */
const CHECKPOINT_PAGES = 4_000;

const WRITING = 'PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY';

export interface Connection extends Session {
  /** Statements without rows or parameters: BEGIN, COMMIT, PRAGMA. */
  exec(sql: string): void;
  readonly inTransaction: boolean;
  close(): void;
}

/** Where the database of a Writ home is. */
export function databaseFile(home: string): string {
  return join(home, 'writ.db');
}

/** `join`: writes to what the writer thread has made ready, and never waits for anybody. */
type Mode = 'write' | 'join' | 'read';

/**
 * Opens the one database, creating and migrating it in mode `write`. Throws AppError `store_unavailable` (damaged, foreign, or made
 * by a newer Writ), `disk_full`, or `not_found` (absent in another mode).
 */
export async function openConnection(file: string, mode: Mode): Promise<Connection> {
  // Loading Kysely takes up to 200 ms from sources; only the writer thread and the commands that read ever pay it.
  const { createBuilder } = await import('./builder.ts');
  // SQLite's own wait doesn't cover everything (the switch to WAL, recovery by another process), so the whole opening is tried again.
  const deadline = performance.now() + OPEN_TIMEOUT;
  for (;;) {
    try {
      return createConnection(openDatabase(file, mode), createBuilder());
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > deadline) throw storeError(thrown, file);
    }
    await setTimeout(5 + Math.random() * 20);
  }
}

function openDatabase(file: string, mode: Mode): DatabaseSync {
  checkFile(file, mode);
  const database = new DatabaseSync(file, { readOnly: mode === 'read', timeout: mode === 'join' ? 0 : OPEN_TIMEOUT, defensive: true });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    if (mode === 'write') prepareForWriting(database, file);
    else checkPresent(database, file);
    // Moving what lies in the write-ahead log flushes to the disk, and that is the writer thread's to wait for.
    if (mode === 'join') database.exec(`${WRITING}; PRAGMA wal_autocheckpoint = 0`);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** The file is made by us, 0600, before SQLite sees it: SQLite would use the umask, and gives -wal and -shm the mode of the main file. */
function checkFile(file: string, mode: Mode): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    if (mode !== 'write') throw noDatabase(file);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    makeFile(file);
    return;
  }
  checkKind(file);
  if (mode === 'write' && (found.mode & 0o077) !== 0) chmodSync(file, 0o600);
}

function checkKind(file: string): void {
  if (!lstatSync(file).isFile()) {
    throw new AppError('store_unavailable', `${file} is not a regular file, so Writ won't use it as its database.`, {
      fix: `Look at what it is and remove it, or move the Writ home with WRIT_HOME.`,
    });
  }
}

function makeFile(file: string): void {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
  } catch (thrown) {
    // Another process of ours, or a link to nowhere, came first: look at what is there now.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') checkKind(file);
    else throw thrown;
  }
}

function prepareForWriting(database: DatabaseSync, file: string): void {
  checkVersion(database, file);
  database.exec(`PRAGMA journal_mode = WAL; ${WRITING}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  migrate(database, file);
  // From here on BEGIN has a wait of its own, which polls faster than SQLite's.
  database.exec('PRAGMA busy_timeout = 0');
}

/** Every step in one transaction, the version read again inside it: several processes may start on an old file at once. */
function migrate(database: DatabaseSync, file: string): void {
  if (pragma(database, 'user_version') === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    checkVersion(database, file);
    for (const statements of MIGRATIONS.slice(pragma(database, 'user_version'))) for (const sql of statements) database.exec(sql);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function checkVersion(database: DatabaseSync, file: string): void {
  // In this order: another process may be making the tables just now, and commits them together with the id.
  const tables = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'];
  const application = pragma(database, 'application_id');
  if (application !== APPLICATION_ID && tables !== 0) {
    throw new AppError('store_unavailable', `${file} is an SQLite database, but not one of Writ's.`, {
      fix: 'Move it aside, or move the Writ home with WRIT_HOME.',
    });
  }
  const version = pragma(database, 'user_version');
  if (version > SCHEMA_VERSION) throw newerDatabase(file, version);
}

function checkPresent(database: DatabaseSync, file: string): void {
  checkVersion(database, file);
  const version = pragma(database, 'user_version');
  if (version === 0) throw noDatabase(file);
  if (version < SCHEMA_VERSION) {
    throw new AppError('store_unavailable', `The database ${file} still has the form of an older Writ (schema ${version}).`, {
      fix: 'Start `writ mcp` or `writ up` once: the first thing it records brings the database up to date.',
    });
  }
}

function noDatabase(file: string): AppError {
  return new AppError('not_found', `There is no database at ${file} yet.`, { fix: 'It is made when Writ first records something.' });
}

export function newerDatabase(file: string, version: number): AppError {
  return new AppError(
    'store_unavailable',
    `The database ${file} was made by a newer Writ (schema ${version}; this one knows up to ${SCHEMA_VERSION}), so this one won't touch it.`,
    { fix: 'Install the newer Writ again and restart every `writ` process.', data: { found: version, known: SCHEMA_VERSION } },
  );
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

function createConnection(database: DatabaseSync, db: Session['db']): Connection {
  const cache = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const hit = cache.get(sql);
    if (hit !== undefined && cache.size < MAX_STATEMENTS) return hit;
    const found = hit ?? database.prepare(sql);
    // A Map keeps insertion order: taking it out and putting it back makes the first key the one unused for longest.
    cache.delete(sql);
    cache.set(sql, found);
    const oldest = cache.keys().next().value;
    if (cache.size > MAX_STATEMENTS && oldest !== undefined) cache.delete(oldest);
    return found;
  };
  return {
    db,
    all: (sql, parameters) => prepared(sql).all(...(parameters as SqlValue[])),
    run: (sql, parameters) => Number(prepared(sql).run(...(parameters as SqlValue[])).changes),
    exec: (sql) => database.exec(sql),
    get inTransaction() {
      return database.isTransaction;
    },
    close: () => database.close(),
  };
}
