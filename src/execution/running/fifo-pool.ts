import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import { fifoFolders } from './fifo-folders.ts';
import { bootId, identify, judge } from './identity.ts';

const BATCH = 64;
const REFILL_BELOW = 16;
const MKFIFO_TIMEOUT_MS = 10_000;

/** Both ends of a pipe whose name is gone: ours doesn't block, theirs is for the child, and we close it after the spawn. */
export interface Pipe {
  readonly ours: number;
  readonly theirs: number;
}

export interface FifoPool {
  /** Two to read from. Waits only when too few are prepared. */
  takePair(): Promise<readonly [Pipe, Pipe]>;
  /** One to write to. */
  takeInput(): Promise<Pipe>;
  /** Removes what is left. */
  close(): void;
}

/**
 * Named pipes, because what Node makes with `stdio: 'pipe'` are sockets, and `> /dev/stderr` on a socket fails. Starting mkfifo costs
 * about a third of a run, so one call makes a batch. Open to all by mode, since the run may have another uid; nobody else can reach them:
 * the folder is private and the name is removed as soon as both ends are open.
 */
export function createFifoPool(home: string): FifoPool {
  const owner = identify(process.pid);
  // Of one process, but not the only one there: each connection that it serves may have its own.
  const own = `${process.pid}-${owner?.start ?? 'unknown'}-${randomBytes(3).toString('hex')}`;
  const folders = new Set<string>();
  const names: string[] = [];
  let serial = 0;
  let filling: Promise<void> | undefined;
  let closed = false;

  const makeIn = async (parent: string): Promise<readonly string[]> => {
    sweepStale(parent);
    const folder = `${parent}/${own}`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    folders.add(folder);
    const batch = Array.from({ length: BATCH }, () => `${folder}/${serial++}`);
    await promisify(execFile)('mkfifo', ['-m', '666', '--', ...batch], { timeout: MKFIFO_TIMEOUT_MS, env: { PATH: '/usr/bin:/bin' } });
    return batch;
  };

  /** Where the first that takes them is: memory may be full where the disk isn't. */
  const makeBatch = async (): Promise<readonly string[]> => {
    let failed: unknown;
    for (const parent of fifoFolders(home)) {
      try {
        return await makeIn(parent);
      } catch (thrown) {
        failed = thrown;
      }
    }
    throw failed;
  };

  const fill = async (): Promise<void> => {
    let batch: readonly string[];
    try {
      batch = await makeBatch();
    } catch (error) {
      throw new AppError('containment_unavailable', `Pipes for the output could not be made: ${messageOf(error)}`, {
        fix: 'Check that `mkfifo` (coreutils) is installed and that the disk of the Writ home has free space and allows named pipes.',
        cause: error,
      });
    }
    names.push(...batch);
    if (closed) removeAll();
  };

  const refill = (): Promise<void> => {
    filling ??= fill().finally(() => {
      filling = undefined;
    });
    return filling;
  };

  const removeAll = (): void => {
    for (const name of names.splice(0)) removeQuietly(() => unlinkSync(name));
    for (const folder of folders) removeQuietly(() => rmdirSync(folder));
  };

  return {
    async takePair() {
      while (names.length < 2) await refill();
      const first = openPipe(names.pop());
      try {
        return [first, openPipe(names.pop())];
      } catch (error) {
        closeSync(first.ours);
        closeSync(first.theirs);
        throw error;
      } finally {
        // A refill in the background reports its failure to the next one that has to wait for it.
        if (names.length < REFILL_BELOW) refill().catch(() => undefined);
      }
    },
    async takeInput() {
      while (names.length < 1) await refill();
      return openInput(names.pop());
    },
    close() {
      closed = true;
      removeAll();
    },
  };
}

/** Opening a named pipe waits for the other side, unless it reads and doesn't want to wait; so that end comes first. */
function openPipe(name: string | undefined): Pipe {
  if (name === undefined) throw new AppError('internal', 'A pipe was taken from an empty pool.');
  const ours = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const theirs = openSync(name, constants.O_WRONLY | constants.O_NOFOLLOW);
    unlinkSync(name);
    return { ours, theirs };
  } catch (error) {
    closeSync(ours);
    throw error;
  }
}

/** The other way round a reader would wait for its writer, so that both ends are held for a moment. Theirs blocks, as programs expect. */
function openInput(name: string | undefined): Pipe {
  if (name === undefined) throw new AppError('internal', 'A pipe was taken from an empty pool.');
  const both = openSync(name, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  let theirs: number | undefined;
  try {
    theirs = openSync(name, constants.O_RDONLY | constants.O_NOFOLLOW);
    const ours = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    unlinkSync(name);
    return { ours, theirs };
  } catch (error) {
    if (theirs !== undefined) closeSync(theirs);
    throw error;
  } finally {
    closeSync(both);
  }
}

/** Folders of supervisors that are gone. */
function sweepStale(parent: string): void {
  const boot_id = bootId();
  let folders: string[];
  try {
    folders = readdirSync(parent);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  for (const folder of folders) {
    const [pid, start] = folder.split('-');
    if (boot_id === undefined || pid === undefined || start === undefined || !/^\d+$/.test(pid)) continue;
    const verdict = judge({ boot_id, pid: Number(pid), start });
    if (verdict !== 'GONE' && verdict !== 'FOREIGN') continue;
    removeQuietly(() => {
      for (const name of readdirSync(`${parent}/${folder}`)) unlinkSync(`${parent}/${folder}/${name}`);
      rmdirSync(`${parent}/${folder}`);
    });
  }
}

/** For left-overs that another process may be removing at the same time, and that do no harm when they stay. */
function removeQuietly(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
