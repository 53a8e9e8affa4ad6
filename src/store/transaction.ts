import { AppError } from '../kernel/errors.ts';
import { type Connection, newerDatabase } from './connection.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { isBusy, isFull, storeError } from './sqlite-error.ts';
import type { Level, Write, WriteRequest, WriteResult, Writes } from './writes.ts';

/** How long a group waits for other processes to let go of the write lock, in ms. */
const LOCK_TIMEOUT = 10_000;

/** Runs groups of writes, one transaction each. The results stand in the order of the requests. */
export type GroupRunner = (requests: readonly WriteRequest[]) => readonly WriteResult[];

/**
 * A write that throws is undone alone and answered with its error. What hits the transaction itself (disk full, lock, damage) is
 * thrown, and then nothing of the group was stored.
 */
export function createGroupRunner(connection: Connection, writes: Writes, file: string, lock_ms: number = LOCK_TIMEOUT): GroupRunner {
  let level: Level | undefined;

  const writeOf = (name: string): Write | undefined => (Object.hasOwn(writes, name) ? writes[name] : undefined);

  const runOne = ({ name, args }: WriteRequest): WriteResult => {
    const write = writeOf(name);
    if (write === undefined) return failed(new AppError('internal', `No write named ${name} is known to the writer thread.`));
    return undoing(() => write(connection, args as never));
  };

  /** Those that follow each other under one name, in one go where their write can; if that fails, one by one, so that only the bad one does. */
  const runAll = (requests: readonly WriteRequest[]): readonly WriteResult[] => {
    const results: WriteResult[] = [];
    for (let from = 0, to = 0; from < requests.length; from = to) {
      const name = requests[from]?.name ?? '';
      while (to < requests.length && requests[to]?.name === name) to++;
      const same = from === 0 && to === requests.length ? requests : requests.slice(from, to);
      const many = same.length > 1 ? writeOf(name)?.many : undefined;
      const done = many && undoing(() => many(connection, same.map(({ args }) => args) as never[]));
      if (done?.ok) for (const value of done.value as readonly unknown[]) results.push({ ok: true, value });
      else for (const each of same) results.push(runOne(each));
    }
    return results;
  };

  /** What the body did stays, or none of it. */
  const undoing = (body: () => unknown): WriteResult => {
    connection.run('SAVEPOINT write', []);
    try {
      const value = body();
      connection.run('RELEASE write', []);
      return { ok: true, value };
    } catch (thrown) {
      // SQLite ends the whole transaction by itself on some faults; then there is no savepoint to go back to.
      if (!connection.inTransaction || isFull(thrown)) throw thrown;
      connection.run('ROLLBACK TO write', []);
      connection.run('RELEASE write', []);
      return failed(storeError(thrown, file));
    }
  };

  return (requests) => {
    const wanted = requests.some((request) => request.level === 'full') ? 'full' : 'normal';
    if (level !== wanted) {
      connection.exec(`PRAGMA synchronous = ${wanted.toUpperCase()}`);
      level = wanted;
    }
    begin(connection, lock_ms);
    try {
      // A newer Writ may have migrated the file while this process had it open.
      const [row] = connection.all('PRAGMA user_version', []) as { user_version: number }[];
      if (row?.user_version !== SCHEMA_VERSION) throw newerDatabase(file, row?.user_version ?? 0);
      const results = runAll(requests);
      connection.run('COMMIT', []);
      return results;
    } catch (thrown) {
      if (connection.inTransaction) connection.run('ROLLBACK', []);
      throw storeError(thrown, file);
    }
  };
}

/**
 * Takes the write lock. SQLite's own busy handler sleeps up to 100 ms between looks and was seen to stall a caller for a second;
 * a commit here takes well under a millisecond, so looking again after 1 to 4 ms, unevenly, is both quicker and fairer.
 */
function begin(connection: Connection, lock_ms: number): void {
  const deadline = performance.now() + lock_ms;
  for (;;) {
    try {
      connection.run('BEGIN IMMEDIATE', []);
      return;
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) throw thrown;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 3);
  }
}

export function failed(error: AppError): WriteResult {
  return {
    ok: false,
    code: error.code,
    message: error.message,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
    ...(error.data === undefined ? {} : { data: { ...error.data } }),
  };
}
