import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { createFolder, endFolder, makeFolder } from '../jobs/folder.ts';
import { jobRecordOf } from '../jobs/job-record.ts';
import type { Layout } from '../jobs/layout.ts';
import type { Processes } from '../jobs/processes.ts';
import { removeFolder } from '../jobs/removal.ts';
import { withRoom } from '../jobs/room.ts';
import { describeTeardown, resultWithoutReceipt, settle } from '../jobs/settle.ts';
import { createSpareFolder } from '../jobs/spare-folder.ts';
import type { JobRecord, OutputView, RunHandle, RunResult, RunSpec } from '../types.ts';
import { type RunnerClient, RunnerGone } from './client.ts';

/** Input that the channel has not taken yet; more is refused. */
const MAX_WAITING_INPUT = 1024 * 1024;
/** How much longer than its own deadline a run is waited for before its runner is taken to be stuck. */
const OVERTIME_MS = 60_000;
/** The folder of the next one is made ahead in the first quiet moment: of commands in a row each makes its own, which costs less in all. */
const AFTER_RUN_MS = 15;

export interface ForegroundParts {
  readonly layout: Layout;
  readonly clock: Clock;
  readonly processes: Processes;
  runner(): RunnerClient;
}

export interface Foreground {
  start(spec: RunSpec, signal: AbortSignal): Promise<RunHandle>;
  /** Cancels what is going on and waits until it is over. */
  close(): Promise<void>;
}

/** Foreground runs of this process, carried out by its runner. */
export function createForeground(parts: ForegroundParts): Foreground {
  const { layout, clock, processes } = parts;
  const closing = new AbortController();
  const open = new Set<Promise<unknown>>();
  const spare = createSpareFolder(layout.spares);
  let quiet: NodeJS.Timeout | undefined;
  const make = (path: string): void => {
    if (!spare.take(path)) makeFolder(path);
  };

  /** Its runner is gone or stuck: the folder says what can be known, and what is still alive of it is ended. */
  const resultFromFolder = async (folder: string, why: string): Promise<RunResult> => {
    const sight = await settle(folder, processes, clock.now(), { given_up: why });
    if (sight.type === 'ended') return sight.ended.result;
    const teardown = await processes.endRun(folder);
    const result = resultWithoutReceipt(folder, { state: 'lost', reason: `${why}; ${describeTeardown(teardown)}` });
    if (sight.type === 'open') endFolder(folder, sight.state, result, clock.now(), { durable: false });
    return result;
  };

  const track = <T>(promise: Promise<T>): Promise<T> => {
    open.add(promise);
    const untrack = (): void => void open.delete(promise);
    promise.then(untrack, untrack);
    return promise;
  };

  const start = async (spec: RunSpec, caller: AbortSignal): Promise<RunHandle> => {
    const signal = AbortSignal.any([caller, closing.signal]);
    if (signal.aborted) throw new AppError('cancelled', 'The request was cancelled before the command was started; nothing of it ran.');
    const runner = parts.runner();
    const exec_id = newId<'exec'>('exec', clock.now());
    const birth = { exec_id, spec, starter: processes.self(), now: clock.now() };
    const folder = await withRoom('run', layout.runs, parts, (admitted) => createFolder(layout.runs, birth, admitted, make));

    const cancel = (reason: string): void => void runner.tell({ type: 'cancel', exec_id, reason });
    const onAbort = (): void => cancel('the request was cancelled');
    signal.addEventListener('abort', onAbort, { once: true });
    const release = (): void => signal.removeEventListener('abort', onAbort);

    const ended = runner.ended(exec_id);
    try {
      const started = runner.ask('start', { kind: 'run', id: exec_id });
      if (signal.aborted) onAbort();
      // The end of a short one comes before the word that it was started, and says as much.
      await Promise.race([started, ended]);
    } catch (thrown) {
      // A runner that is gone is no refusal: what became of it is in the folder, and `done` will say so.
      if (!(thrown instanceof RunnerGone)) {
        runner.forget(exec_id);
        release();
        // Refused before anything ran, and the caller is told why: nothing to keep.
        if (!(thrown instanceof AppError && thrown.code === 'outcome_unknown')) removeFolder(layout.runs, exec_id);
        throw thrown;
      }
    }

    let final: RunResult | undefined;
    let promotion: Promise<JobRecord | undefined> = Promise.resolve(undefined);
    const overtime = Promise.withResolvers<null>();
    const timer = setTimeout(overtime.resolve, spec.timeout_ms + OVERTIME_MS, null).unref();
    const finish = async (): Promise<RunResult | null> => {
      const result = await Promise.race([ended, overtime.promise]);
      clearTimeout(timer);
      release();
      quiet ??= setTimeout(() => void spare.prepare(), AFTER_RUN_MS).unref();
      quiet.refresh();
      if (await promotion.catch(() => undefined)) return null;
      final = result ?? (await resultFromFolder(folder, runner.usable() ? 'its runner did not end it in time' : 'its runner ended'));
      return final;
    };
    const done = track(finish());

    const promote = async (): Promise<JobRecord> => {
      const job_id = newId<'job'>('job', clock.now());
      await runner.ask('promote', { exec_id, job_id }).catch((thrown: unknown) => {
        // Gone in the very moment: the folder has been renamed or it has not.
        if (!(thrown instanceof RunnerGone)) throw thrown;
      });
      const job = join(layout.jobs, job_id);
      const record = jobRecordOf(job_id, job, await settle(job, processes, clock.now()));
      if (!record) throw new AppError('internal', `The runner ended before ${exec_id} had become a job.`);
      return record;
    };

    let waiting = 0;
    return {
      exec_id,
      write(bytes) {
        if (final || waiting + bytes.length > MAX_WAITING_INPUT) return false;
        waiting += bytes.length;
        const sent = runner.tell({ type: 'write', exec_id, bytes }, () => {
          waiting -= bytes.length;
        });
        if (!sent) waiting -= bytes.length;
        return sent;
      },
      resize: (cols, rows) => void runner.tell({ type: 'resize', exec_id, cols, rows }),
      cancel,
      async view(): Promise<OutputView> {
        try {
          return await runner.ask('view', { exec_id });
        } catch (thrown) {
          const over = thrown instanceof RunnerGone || (thrown instanceof AppError && thrown.code === 'not_found') ? await done : null;
          if (over) return over.output;
          throw thrown;
        }
      },
      async promote() {
        const attempt = promote();
        promotion = attempt;
        const record = await attempt;
        release();
        runner.forget(exec_id);
        return record;
      },
      done,
    };
  };

  return {
    start: (spec, signal) => track(start(spec, signal)),
    async close() {
      closing.abort();
      while (open.size > 0) await Promise.allSettled(open);
      await spare.close();
    },
  };
}
