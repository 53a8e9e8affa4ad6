import { Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../kernel/errors.ts';
import { createHere } from './here.ts';
import type { ThreadSetup, ToThread, WriteOptions, WriteRequest, WriteResult, Writes } from './writes.ts';

/** Writes that go into one transaction at most: bounds how long the first of them waits for the last. */
const MAX_GROUP = 256;

/** Writes that may be pending. Beyond it only essential ones are taken; the others are refused with `busy`. */
const MAX_PENDING = 8_192;

/** In ms: more than the pause between two calls of a quick client, and nothing to whoever kills this process. */
const LAZY_MS = 5;

/** Room for new objects in the thread; V8 would widen it to 48 MiB. */
const YOUNG_MIB = 6;

/** How long `close` waits for what is pending, in ms: longer than a group may wait for the lock. */
const CLOSE_TIMEOUT = 20_000;

/** The write side of the database, on the main thread. Everything else about writing happens in the thread. */
export interface Store<W extends Writes> {
  /**
   * Queues one write; resolves with its result once its group is committed. Writes are committed in the order of the calls.
   * Rejects with AppError: the write's own, or `busy`, `disk_full`, `store_unavailable`. There is no way to take a queued write back.
   */
  write<Name extends keyof W & string>(name: Name, args: Parameters<W[Name]>[1], options: WriteOptions): Promise<ReturnType<W[Name]>>;
  /** Commits what is pending, then closes the database and ends the thread. Writes after it are refused. */
  close(): Promise<void>;
}

export interface StoreParts {
  readonly file: string;
  /** The program of the writer thread (main/writer-thread.ts, or its bundle). */
  readonly entry: URL;
  /** Bytes held back for essential writes on a full disk; 0 for none. */
  readonly reserve?: number;
  /** How long lazy writes wait for company. */
  readonly lazy_ms?: number;
  /** The short ones among the writes of the thread: at level `normal` this thread may do them itself (here.ts). Default: none. */
  readonly here?: Writes;
}

interface Pending {
  readonly request: WriteRequest;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: AppError) => void;
}

/**
 * While one batch is being committed the next one gathers: a lone write goes out at once and a busy machine commits in big groups. The thread is started by the first write and never keeps the process alive by itself.
 */
export function createStore<W extends Writes>(parts: StoreParts): Store<W> {
  const { file, entry, reserve = 64 * 1024 * 1024, lazy_ms = LAZY_MS } = parts;
  const here = createHere(file, parts.here ?? {});
  const queue: Pending[] = [];
  /** The thread has something to do; then nothing is written anywhere else. */
  let busy = false;
  let underWay: Pending[] = [];
  let worker: Worker | undefined;
  let closed = false;
  let whenIdle: (() => void) | undefined;
  /** When the queue is looked at next, while nothing is under way. */
  let soon: NodeJS.Immediate | undefined;
  let later: NodeJS.Timeout | undefined;

  const start = (): Worker => {
    const thread = new Worker(entry, {
      workerData: { file, reserve } satisfies ThreadSetup,
      name: 'writ-writer',
      execArgv: [],
      // What a batch leaves behind is small and dead at once.
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    const lost = (why: string): void => {
      if (worker !== thread) return;
      worker = undefined;
      busy = false;
      const error = new AppError(
        'store_unavailable',
        `The writer of ${file} stopped (${why}); what it was writing may or may not be stored.`,
        {
          fix: 'Restart this `writ` process; if it comes back, run `writ doctor`.',
        },
      );
      for (const pending of underWay.splice(0).concat(queue.splice(0))) pending.reject(error);
      whenIdle?.();
    };
    thread.on('message', (results: readonly WriteResult[]) => finish(results));
    thread.on('error', (error) => lost(error instanceof Error ? error.message : String(error)));
    thread.on('exit', (code) => lost(`exit ${code}`));
    return thread;
  };

  const finish = (results: readonly WriteResult[]): void => {
    const done = underWay;
    underWay = [];
    busy = false;
    settle(done, results);
    if (queue.length > 0 && queue.every(({ request }) => request.lazy)) schedule();
    else send();
  };

  /** One turn of the event loop gathers what all its requests ask for: a group costs a transaction, however big. */
  const schedule = (): void => {
    if (busy || soon !== undefined) return;
    if (queue.every(({ request }) => request.lazy)) later ??= setTimeout(send, lazy_ms);
    else soon = setImmediate(send);
  };

  const send = (): void => {
    clearImmediate(soon);
    clearTimeout(later);
    soon = undefined;
    later = undefined;
    if (busy) return;
    if (queue.length === 0) {
      rest();
      return;
    }
    const group = queue.splice(0, MAX_GROUP);
    const requests = group.map(({ request }) => request);
    const results = here.run(requests);
    if (results === undefined) {
      hand(group, requests);
      return;
    }
    settle(group, results);
    if (here.checkpointDue()) hand([], undefined);
    else if (queue.length === 0) rest();
    else schedule();
  };

  const rest = (): void => {
    worker?.unref();
    whenIdle?.();
  };

  /** Gives the thread a batch, or without one lets it move the write-ahead log. */
  const hand = (group: Pending[], writes: readonly WriteRequest[] | undefined): void => {
    worker ??= start();
    worker.ref();
    underWay = group;
    busy = true;
    try {
      post(worker, writes === undefined ? { type: 'checkpoint' } : { type: 'batch', writes });
    } catch {
      // Something in the batch isn't plain data: find who handed it in, and let the others go on.
      busy = false;
      queue.unshift(...underWay.splice(0).filter(isPlain));
      queueMicrotask(send);
    }
  };

  return {
    write: (name, args, options) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new AppError('store_unavailable', 'The database was closed: this process is ending.'));
        if (queue.length >= MAX_PENDING && !options.essential) return reject(tooMany());
        const request = { name, args, ...options };
        queue.push({ request, resolve: resolve as (value: unknown) => void, reject });
        if (!options.lazy || queue.length === 1) schedule();
      }),
    async close() {
      closed = true;
      if (worker === undefined && queue.length === 0) return;
      const timeout = AbortSignal.timeout(CLOSE_TIMEOUT);
      const idle = await new Promise<boolean>((resolve) => {
        timeout.addEventListener('abort', () => resolve(false), { once: true });
        whenIdle = () => resolve(true);
        send();
      });
      whenIdle = undefined;
      // The last connection that closes moves the write-ahead log: that is the thread's.
      here.close();
      const thread = worker;
      worker = undefined;
      if (thread === undefined) return;
      if (!idle) {
        await thread.terminate();
        throw new AppError('store_unavailable', `The last writes to ${file} didn't finish within ${CLOSE_TIMEOUT / 1000} s.`);
      }
      const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      thread.ref();
      post(thread, { type: 'close' });
      await exited;
    },
  };
}

function settle(group: readonly Pending[], results: readonly WriteResult[]): void {
  group.forEach((pending, index) => {
    const result = results[index];
    if (result?.ok) pending.resolve(result.value);
    else pending.reject(result === undefined ? new AppError('internal', 'The writer thread gave no result.') : rebuild(result));
  });
}

/** Whether the arguments can cross to the thread; if not, their write is refused here. */
function isPlain({ request, reject }: Pending): boolean {
  try {
    structuredClone(request.args);
    return true;
  } catch (thrown) {
    reject(new AppError('internal', `The arguments of the write ${request.name} are not plain data.`, { cause: thrown }));
    return false;
  }
}

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}

function rebuild(result: WriteResult & { ok: false }): AppError {
  return new AppError(result.code as ErrorCode, result.message, {
    ...(result.fix === undefined ? {} : { fix: result.fix }),
    ...(result.data === undefined ? {} : { data: result.data }),
  });
}

function tooMany(): AppError {
  return new AppError('busy', `${MAX_PENDING} writes are already waiting for the database.`, {
    fix: 'Look at what the disk is doing; nothing new is taken before that has drained.',
  });
}
