import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { ExecId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { Layout } from '../jobs/layout.ts';
import type { RunResult } from '../types.ts';
import { openRunnerLog } from './log.ts';
import { errorFromWire, type FromRunner, type RequestName, type Requests, type ToRunner } from './protocol.ts';

/** How long each request may take before the runner is taken to be stuck. A first probe alone may need some seconds. */
const ANSWER_MS: Readonly<Record<RequestName, number>> = { probe: 60_000, start: 60_000, view: 10_000, promote: 30_000 };

const EXIT_MS = 2_000;

/** The runner ended with the question open. Only for this room: callers see what the folder says. */
export class RunnerGone extends Error {
  override readonly name = 'RunnerGone';
}

export interface RunnerClient {
  /** Rejects with AppError as the runner said it, or with RunnerGone. */
  ask<Name extends RequestName>(name: Name, ask: Requests[Name]['ask']): Promise<Requests[Name]['answer']>;
  /** A message without an answer; false when the runner is gone. `taken` is called when the channel has it. */
  tell(message: ToRunner, taken?: () => void): boolean;
  /** The result of a foreground run, once; null when the runner is gone and the folder has to tell. */
  ended(exec_id: ExecId): Promise<RunResult | null>;
  /** It became a job: nobody waits for its end any more. */
  forget(exec_id: ExecId): void;
  usable(): boolean;
  /** Lets go of the runner: foreground runs end, jobs go on, and it ends by itself. */
  disconnect(): void;
}

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void; readonly timer: NodeJS.Timeout };

/**
 * Starts a runner: its own session, so that neither a terminal nor the end of this process takes it along. It gets next to
 * nothing in its environment; the settings come over the channel.
 */
export function startRunner(config: ExecutionConfig, layout: Layout, logger: Logger): RunnerClient {
  const child = launch(config, layout);
  const waiting = new Map<number, Waiting>();
  const ends = new Map<ExecId, { readonly promise: Promise<RunResult | null>; readonly settle: (result: RunResult | null) => void }>();
  let seq = 0;
  let gone = false;
  /** No longer answering, or no longer reachable: not for new work. */
  let stuck = false;

  /** This process may end while the runner only idles, but not while something is waited for. */
  const hold = (): void => {
    if (waiting.size + ends.size > 0) child.channel?.ref();
    else child.channel?.unref();
  };

  const lose = (why: string): void => {
    if (gone) return;
    gone = true;
    logger.debug('a runner is gone', { pid: child.pid, why });
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(new RunnerGone(why));
    }
    waiting.clear();
    for (const { settle } of ends.values()) settle(null);
    ends.clear();
  };

  const endOf = (exec_id: ExecId): { readonly promise: Promise<RunResult | null>; readonly settle: (result: RunResult | null) => void } => {
    const known = ends.get(exec_id);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<RunResult | null>();
    const entry = { promise, settle: resolve };
    if (gone) resolve(null);
    else ends.set(exec_id, entry);
    hold();
    return entry;
  };

  child.on('message', (message: FromRunner) => {
    if (message.type === 'ended') {
      ends.get(message.exec_id)?.settle(message.result);
      ends.delete(message.exec_id);
      return hold();
    }
    const asked = waiting.get(message.seq);
    if (!asked) return;
    waiting.delete(message.seq);
    clearTimeout(asked.timer);
    hold();
    if (message.type === 'answer') asked.resolve(message.answer as never);
    else asked.reject(errorFromWire(message.error));
  });
  child.on('error', (error) => lose(error.message));
  child.on('exit', (code, signal) => lose(`the runner ended with ${signal ?? `exit code ${code}`}`));
  child.on('disconnect', () => {
    stuck = true;
    // The channel of a dying process ends a moment before the process: its folders are judged when it is seen dead.
    if (waiting.size + ends.size === 0) lose('the channel to the runner ended');
    else setTimeout(lose, EXIT_MS, 'the channel to the runner ended');
  });
  child.unref();
  hold();

  const tell = (message: ToRunner, taken?: () => void): boolean => {
    if (gone || !child.connected) return false;
    child.send(message, (error) => {
      if (error) logger.debug('a message did not reach the runner', { type: message.type, reason: error.message });
      taken?.();
    });
    return true;
  };
  tell({ type: 'configure', config });

  return {
    ask(name, ask) {
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      if (gone) {
        reject(new RunnerGone('the runner is gone'));
        return promise;
      }
      const number = seq++;
      const timer = setTimeout(() => {
        waiting.delete(number);
        stuck = true;
        hold();
        reject(new AppError('outcome_unknown', `The runner has not answered "${name}" for ${ANSWER_MS[name] / 1000} s.`));
      }, ANSWER_MS[name]);
      waiting.set(number, { resolve, reject, timer });
      hold();
      tell({ type: 'request', seq: number, name, ask } as ToRunner);
      return promise;
    },
    tell,
    ended: (exec_id) => endOf(exec_id).promise,
    forget(exec_id) {
      ends.get(exec_id)?.settle(null);
      ends.delete(exec_id);
      hold();
    },
    usable: () => !gone && !stuck,
    disconnect() {
      if (child.connected) child.disconnect();
    },
  };
}

function launch(config: ExecutionConfig, layout: Layout): ChildProcess {
  const [program, ...args] = config.runner_argv;
  if (program === undefined) throw new AppError('internal', 'No command is configured to start a runner with.');
  let log: number | undefined;
  try {
    log = openRunnerLog(layout.logs);
    return spawn(program, args, {
      cwd: '/',
      env: runnerEnv(config),
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', log, log, 'ipc'],
    });
  } catch (thrown) {
    throw toAppError(thrown);
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

/** What Node itself may need. No secret of the host is in it, so none can be read back from /proc. */
function runnerEnv(config: ExecutionConfig): Record<string, string> {
  const names = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH'];
  const env: Record<string, string> = { HOME: config.user_home, WRIT_HOME: config.home };
  for (const name of names) {
    const value = config.host_env[name];
    if (value !== undefined) env[name] = value;
  }
  // The launcher has put compiled code into the Writ home: a runner comes up faster with it. What Node names is a folder below it.
  const compiled = getCompileCacheDir();
  if (compiled?.startsWith(`${config.home}/`)) env['NODE_COMPILE_CACHE'] = dirname(compiled);
  return env;
}
