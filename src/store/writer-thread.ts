import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../kernel/errors.ts';
import { type Connection, openConnection } from './connection.ts';
import { inodeOf } from './inode.ts';
import { createReserve, reserveFile } from './reserve.ts';
import { storeError } from './sqlite-error.ts';
import { createGroupRunner, failed, type GroupRunner } from './transaction.ts';
import type { ThreadSetup, ToThread, WriteRequest, WriteResult, Writes } from './writes.ts';

/** Quiet time before the reserve is filled, in ms: start-up and bursts come first, short-lived commands never pay for it. */
const FILL_AFTER = 2_000;

/** The body of the writer thread: called once by main/writer-thread.ts with the writes of every room. */
export function runWriterThread(writes: Writes): void {
  const port = parentPort;
  if (port === null) throw new Error('the writer thread was started as a program');
  const { file, reserve: reserveBytes } = workerData as ThreadSetup;
  const reserve = createReserve(reserveFile(file), reserveBytes);
  let open: { readonly connection: Connection; readonly run: GroupRunner; readonly inode: number | undefined } | undefined;
  let filling: NodeJS.Timeout | undefined;

  const opened = async (): Promise<NonNullable<typeof open>> => {
    if (open === undefined) {
      const connection = await openConnection(file, 'write');
      open = { connection, run: createGroupRunner(connection, writes, file), inode: inodeOf(file) };
    }
    return open;
  };

  const runBatch = async (requests: readonly WriteRequest[]): Promise<readonly WriteResult[]> => {
    try {
      const { run, inode } = await opened();
      // Rows written to a file that nobody will find again would be acknowledged and lost. The connection is kept: opening another
      // would silently begin an empty database, while this one is right again as soon as the file is back.
      if (inodeOf(file) !== inode) return requests.map(() => failed(movedAway(file)));
      return runWithReserve(run, requests);
    } catch (thrown) {
      const error = storeError(thrown, file);
      // A fresh connection is the best cure there is for a fault of the file or the disk.
      if (error.code === 'store_unavailable') {
        open?.connection.close();
        open = undefined;
      }
      return requests.map(() => failed(error));
    }
  };

  const runWithReserve = (run: GroupRunner, requests: readonly WriteRequest[]): readonly WriteResult[] => {
    if (!reserve.spent()) {
      try {
        return run(requests);
      } catch (thrown) {
        if (!(thrown instanceof AppError) || thrown.code !== 'disk_full') throw thrown;
        if (!requests.some((request) => request.essential) || !reserve.release()) throw thrown;
      }
    }
    // Full, or full a moment ago: only what ends things goes through until the reserve is back.
    const essential = requests.filter((request) => request.essential);
    const results = essential.length === 0 ? [] : run(essential);
    let next = 0;
    return requests.map((request) => (request.essential ? (results[next++] ?? failed(diskFull(file))) : failed(diskFull(file))));
  };

  const checkpoint = (): readonly WriteResult[] => {
    try {
      open?.connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Everything stays where it was, just as safe; what is wrong with the file or the disk is met and said by the next write.
    }
    return [];
  };

  const fillLater = (delay: number): void => {
    clearTimeout(filling);
    if (reserveBytes === 0) return;
    filling = setTimeout(() => {
      if (reserve.fill()) fillLater(0);
    }, delay);
  };

  port.on('message', async (message: ToThread) => {
    clearTimeout(filling);
    if (message.type === 'close') {
      open?.connection.close();
      port.close();
      return;
    }
    port.postMessage(message.type === 'checkpoint' ? checkpoint() : await runBatch(message.writes));
    fillLater(FILL_AFTER);
  });
}

function diskFull(file: string): AppError {
  return new AppError('disk_full', `The disk that holds ${file} is full; only cancelling and closing are still recorded.`, {
    fix: 'Free some space (at least 128 MiB), or move the Writ home with WRIT_HOME.',
  });
}

function movedAway(file: string): AppError {
  return new AppError('store_unavailable', `The database ${file} was moved, removed or replaced while this process was using it.`, {
    fix: 'Put it back (with its -wal and -shm files) and restart this `writ` process.',
  });
}
