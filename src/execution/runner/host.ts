import type { Clock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { ExecId, JobId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { PreparedOpenings } from '../containment/prepared-openings.ts';
import type { ContainedRun, Containment, Running, SandboxPlan } from '../core-types.ts';
import { cancelRequested } from '../jobs/cancel.ts';
import { UNCONTAINED_JOB } from '../jobs/check-spec.ts';
import { endFolder, look, readSpec } from '../jobs/folder.ts';
import { type FolderWatch, watchFolder } from '../jobs/folder-watch.ts';
import { createJson } from '../jobs/json-file.ts';
import { type ExecutionKind, folderOf, type Layout } from '../jobs/layout.ts';
import { FILES, type SpecRecord } from '../jobs/records.ts';
import { resultWithoutReceipt } from '../jobs/settle.ts';
import type { OpenState } from '../jobs/states.ts';
import { readIdentity } from '../running/identity-file.ts';
import type { OutputView, ProcessIdentity, RunResult, RunSpec } from '../types.ts';
import { promoteFolder } from './promote.ts';

/** Points of the handshake, in order, for tests that end the runner exactly there. */
export type HandshakeStep = 'asked' | 'owned' | 'planned' | 'gate_open' | 'ended' | 'recorded';

export interface HostParts {
  readonly layout: Layout;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly self: ProcessIdentity;
  readonly containment: Containment;
  readonly running: Running;
  /** A foreground run is over; not called for jobs, whose folder is the answer. */
  onEnded(exec_id: ExecId, result: RunResult): void;
  /** Nothing is going on any more. */
  onIdle(): void;
  readonly atStep?: (step: HandshakeStep) => void;
}

/** The executions of one runner process. */
export interface Host {
  start(kind: ExecutionKind, id: ExecId | JobId): Promise<void>;
  promote(exec_id: ExecId, job_id: JobId): void;
  view(exec_id: ExecId): OutputView;
  write(exec_id: ExecId, bytes: Uint8Array): void;
  resize(exec_id: ExecId, cols: number, rows: number): void;
  cancel(exec_id: ExecId, reason: string): void;
  /** Nobody will ask for more: ends foreground runs, or everything. */
  leave(reason: string, which: 'runs' | 'all'): void;
  size(): number;
}

/**
 * Most commands are over in a moment, and whoever waits for their end would be woken for their start while they run, on a processor that
 * they need. For so long a start isn't told: either the end is, or then.
 */
const TELL_START_MS = 5;

/** A cancel request that no watch reports is seen after this. */
const CANCEL_POLL_MS = 1_000;

interface Hosted {
  folder: string;
  /** It is a job, from the start or by now. */
  durable: boolean;
  readonly record: SpecRecord;
  run?: ContainedRun;
  /** What another run just like it would be planned as: one is prepared when this one is over. */
  again?: SandboxPlan;
  state: OpenState;
  cancelled?: string;
  watch?: FolderWatch;
  placed?: PreparedOpenings;
}

export function createHost(parts: HostParts): Host {
  const { layout, clock, logger } = parts;
  const hosted = new Map<ExecId, Hosted>();
  let leaving = false;
  const step = parts.atStep ?? (() => {});

  const cancel = (entry: Hosted, reason: string): void => {
    entry.cancelled ??= reason;
    entry.run?.cancel(entry.cancelled);
  };

  /** Jobs may be cancelled by any process of this user: the request lies in the folder. */
  const watchForCancel = async (entry: Hosted): Promise<void> => {
    const watch = watchFolder(entry.folder, FILES.cancel);
    entry.watch = watch;
    while (hosted.get(entry.record.exec_id) === entry) {
      const reason = cancelRequested(entry.folder);
      if (reason !== undefined) return cancel(entry, reason);
      await watch.changed(CANCEL_POLL_MS);
    }
  };

  const take = (kind: ExecutionKind, id: ExecId | JobId): Hosted => {
    const folder = folderOf(layout, kind, id);
    const sight = folder === undefined ? undefined : look(folder);
    if (folder === undefined || sight?.type !== 'open') {
      const why = sight?.type === 'unreadable' ? sight.reason : (sight?.type ?? 'not an id');
      throw new AppError('internal', `The runner was given ${id} and can't start it: ${why}.`);
    }
    const durable = kind === 'job';
    const holder = { type: 'runner', process: parts.self };
    if (!createJson(folder, FILES.owner, { at: clock.now(), holder }, { durable })) {
      throw new AppError('internal', `${id} was taken or closed by another process before this runner came to it.`);
    }
    const entry: Hosted = { folder, durable, record: sight.spec, state: 'starting' };
    hosted.set(sight.spec.exec_id, entry);
    return entry;
  };

  /** `told`: whoever asked hears it in another way. */
  const finish = (entry: Hosted, ended: RunResult, told = false): void => {
    const { exec_id } = entry.record;
    const { outcome } = ended;
    step('ended');
    const notes = entry.placed?.clear(outcome.state === 'exited' && outcome.exit_code === 0) ?? [];
    const { receipt } = ended;
    const result = receipt && notes.length > 0 ? { ...ended, receipt: { ...receipt, hints: [...receipt.hints, ...notes] } } : ended;
    try {
      const first = endFolder(entry.folder, entry.state, result, clock.now(), { durable: entry.durable });
      if (!first) logger.warn('another process had written the end before', { exec_id, outcome: outcome.state });
    } catch (thrown) {
      // The client of a foreground run still gets its answer; a job will be found without a result, and be called lost.
      logger.error('the result could not be written', { exec_id, reason: toAppError(thrown).message });
    }
    step('recorded');
    hosted.delete(exec_id);
    entry.watch?.close();
    if (!entry.durable && !told) parts.onEnded(exec_id, result);
    if (entry.again && !entry.durable && !leaving) parts.running.warm(entry.again);
    if (hosted.size === 0) parts.onIdle();
  };

  const begin = async (entry: Hosted, spec: RunSpec): Promise<void> => {
    const { exec_id } = entry.record;
    const { folder, durable } = entry;
    if (durable) void watchForCancel(entry);
    entry.placed = parts.containment.place(spec);
    const { openings, placed, stand_ins } = entry.placed;
    if (placed.length + stand_ins.length > 0) createJson(folder, FILES.placed, { placed, stand_ins }, { durable });
    const plan = await parts.containment.plan({ ...spec, openings });
    step('planned');
    if (entry.cancelled !== undefined) {
      const reason = `${entry.cancelled} (before it was started: nothing of it ran)`;
      finish(entry, resultWithoutReceipt(folder, { state: 'cancelled', reason }));
      return;
    }
    const since = clock.now();
    const run = await parts.running.start({ exec_id, spec, plan, folder, durable, logger });
    // It never passed its gate: where that is the fault of this machine, the caller is told what to do about it.
    if (run.never_started && typeof readIdentity(folder) !== 'object' && !spec.uncontained) await parts.containment.doubt(plan, since);
    entry.run = run;
    entry.state = 'running';
    step('gate_open');
    if (entry.cancelled !== undefined) run.cancel(entry.cancelled);
    run.done.then(
      (result) => finish(entry, result),
      (thrown: unknown) => finish(entry, resultWithoutReceipt(entry.folder, { state: 'lost', reason: toAppError(thrown).message })),
    );
    if (durable) return;
    if (isPlain(spec)) entry.again = plan;
    await endOrAfter(TELL_START_MS, run.done);
  };

  const running = (exec_id: ExecId): Hosted & { run: ContainedRun } => {
    const entry = hosted.get(exec_id);
    if (!entry?.run) throw new AppError('not_found', `${exec_id} is not going on in this runner.`);
    return { ...entry, run: entry.run };
  };

  return {
    async start(kind, id) {
      step('asked');
      const entry = take(kind, id);
      step('owned');
      try {
        await begin(entry, readSpec(entry.folder, entry.record));
      } catch (thrown) {
        const error = toAppError(thrown);
        const identity = readIdentity(entry.folder);
        if (identity === 'absent' || identity === 'torn') {
          finish(entry, resultWithoutReceipt(entry.folder, { state: 'never_started', reason: error.message }), true);
          throw error;
        }
        // Its identity was recorded: the gate may have been opened before something else failed.
        entry.state = 'running';
        finish(entry, resultWithoutReceipt(entry.folder, { state: 'lost', reason: `${error.message}; it may have run` }));
      }
    },

    promote(exec_id, job_id) {
      const entry = hosted.get(exec_id);
      if (!entry?.run) throw new AppError('not_found', `${exec_id} ended before it could become a job.`);
      if (entry.record.spec.uncontained) throw new AppError('invalid_arguments', UNCONTAINED_JOB);
      entry.folder = promoteFolder(layout, entry.folder, job_id, entry.record, clock.now());
      entry.durable = true;
      void watchForCancel(entry);
    },

    view: (exec_id) => running(exec_id).run.view(),
    write: (exec_id, bytes) => void hosted.get(exec_id)?.run?.write(bytes),
    resize: (exec_id, cols, rows) => hosted.get(exec_id)?.run?.resize(cols, rows),
    cancel(exec_id, reason) {
      const entry = hosted.get(exec_id);
      if (entry) cancel(entry, reason);
    },
    leave(reason, which) {
      leaving = true;
      for (const entry of hosted.values()) if (which === 'all' || !entry.durable) cancel(entry, reason);
    },
    size: () => hosted.size,
  };
}

/** Nothing about it was opened for this one run only, so the next one is likely to be planned alike. */
function isPlain(spec: RunSpec): boolean {
  return (
    spec.openings.length === 0 && !spec.git_config_write && spec.pty === undefined && !spec.network && !spec.ports && !spec.uncontained
  );
}

/** Resolves when that is over, well or not, and no later than after so many milliseconds. */
function endOrAfter(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const over = (): void => {
    clearTimeout(timer);
    resolve();
  };
  work.then(over, over);
  return promise;
}
