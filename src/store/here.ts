import { type Connection, openConnection } from './connection.ts';
import { inodeOf } from './inode.ts';
import { createReserve, reserveFile } from './reserve.ts';
import { isBusy } from './sqlite-error.ts';
import { createGroupRunner, type GroupRunner } from './transaction.ts';
import type { WriteRequest, WriteResult, Writes } from './writes.ts';

/** Groups that were done by the thread before a connection is opened here: a process that records little never pays for one. */
const OPEN_AFTER = 16;
/** Then, and after anything failed, it is tried again no sooner than this, in ms. */
const AGAIN_MS = 1_000;
/** A group that took longer than this (ms) shows a disk that is behind: for AGAIN_MS the event loop doesn't wait for it. */
const SLOW_MS = 100;
/** Groups after which the write-ahead log should be moved; a group is 5 to 20 pages. */
const CHECKPOINT_AFTER = 500;

/**
 * Groups of short writes, done on the thread that asks for them: the transaction takes a tenth of the time that waking another thread and
 * being woken by it do. It is the writer thread's own transaction, but for everything that may take long: a lock that another process
 * holds, a full disk, a flush, or anything that goes wrong is left to the thread.
 */
export interface Here {
  /** The results, once committed. Undefined: nothing was done, and the writer thread has to. Never to be called while that has work. */
  run(requests: readonly WriteRequest[]): readonly WriteResult[] | undefined;
  /** Whether it is time to move the write-ahead log; says so once. */
  checkpointDue(): boolean;
  close(): void;
}

interface Open {
  readonly connection: Connection;
  readonly run: GroupRunner;
  readonly inode: number | undefined;
}

export function createHere(file: string, writes: Writes): Here {
  const reserve = createReserve(reserveFile(file), 0);
  let open: Open | undefined;
  let closed = false;
  let groups = 0;
  let notBefore = 0;
  let uncheckpointed = 0;

  const later = (): void => {
    notBefore = performance.now() + AGAIN_MS;
  };

  const drop = (): void => {
    open?.connection.close();
    open = undefined;
    later();
  };

  const join = async (): Promise<void> => {
    const connection = await openConnection(file, 'join');
    if (closed) {
      connection.close();
      return;
    }
    open = { connection, run: createGroupRunner(connection, writes, file, 0), inode: inodeOf(file) };
    notBefore = 0;
  };

  const tryToRun = ({ run, inode }: Open, requests: readonly WriteRequest[]): readonly WriteResult[] | undefined => {
    if (inodeOf(file) !== inode || reserve.spent()) return undefined;
    const since = performance.now();
    try {
      const results = run(requests);
      if (performance.now() - since > SLOW_MS) later();
      uncheckpointed++;
      return results;
    } catch (thrown) {
      // Nothing of the group was stored. The thread meets the same, and knows what to do and what to say.
      if (!isBusy(thrown)) drop();
      return undefined;
    }
  };

  return {
    run(requests) {
      if (!requests.every(({ name, level }) => level === 'normal' && Object.hasOwn(writes, name))) return undefined;
      if (performance.now() < notBefore) return undefined;
      if (open !== undefined) return tryToRun(open, requests);
      groups++;
      if (groups > OPEN_AFTER && !closed) {
        later();
        // Whatever keeps it from being opened is met and said by the thread, which goes on doing the work.
        join().catch(later);
      }
      return undefined;
    },
    checkpointDue() {
      if (uncheckpointed < CHECKPOINT_AFTER) return false;
      uncheckpointed = 0;
      return true;
    },
    close() {
      closed = true;
      open?.connection.close();
      open = undefined;
    },
  };
}
