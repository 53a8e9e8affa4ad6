import { constants } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import type { ExecId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ContainedRun } from '../core-types.ts';
import type { ContainmentReport, Outcome, OutputView, Receipt, RunResult, RunSpec, TeardownReport } from '../types.ts';
import type { Capture } from './capture.ts';
import type { RunGroup } from './cgroups.ts';
import type { Drain } from './drain.ts';
import { signalOwned } from './identity.ts';
import { NO_NAMESPACE } from './identity-file.ts';
import { outcomeOf, type Stop } from './outcome.ts';
import type { PipeReader } from './reader.ts';
import type { BuiltSandbox, Exit, TreeEnd } from './sandbox.ts';
import type { SpoolWriter } from './spool-writer.ts';
import { endTree, terminateMembers } from './teardown.ts';
import type { Terminal } from './terminal.ts';

/** Between TERM and KILL: time for a handler to clean up; what it prints is still captured. */
const TERM_GRACE_MS = 1_000;
/** A process that survives KILL (stuck in the kernel) is waited for this long, then reported. */
const EXIT_AFTER_KILL_MS = 5_000;

export interface UnderWay {
  readonly exec_id: ExecId;
  readonly spec: RunSpec;
  readonly sandbox: BuiltSandbox;
  readonly report: ContainmentReport;
  readonly capture: Capture;
  readonly spool: SpoolWriter;
  readonly readers: readonly PipeReader[];
  readonly drain: Drain;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly started_at: number;
  readonly terminal?: Pick<Terminal, 'write' | 'resize' | 'leave'>;
  readonly cgroup?: Pick<RunGroup, 'hits' | 'kill' | 'paths'>;
  readonly hints: (result: { readonly output: string; readonly failed: boolean }) => readonly string[];
  /** What became of its allow-list, if one was open. */
  readonly network?: () => Receipt['network'];
  /** How its tree is ended, where that isn't done by the death of a namespace's init. */
  readonly tree?: TreeEnd;
  /** Moves away what appeared where nothing may appear. Only after the tree is dead. */
  readonly quarantine: () => Receipt['quarantined'];
  /** Lets go of everything that was made for this run and isn't evidence. */
  readonly cleanUp: () => void;
}

/** A run from the moment its command was let through the gate to its receipt. */
export function followRun(run: UnderWay): ContainedRun & { stop(stop: Stop): void } {
  const { sandbox, capture, clock } = run;
  let stopped: Stop | undefined;
  const killed = Promise.withResolvers<undefined>();
  const timers = new Set<NodeJS.Timeout>();

  const after = (ms: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timers.add(timer);
  };

  const kill = (): void => {
    run.cgroup?.kill();
    run.tree?.kill();
    signalOwned(sandbox.init, 'SIGKILL');
    sandbox.kill();
    after(EXIT_AFTER_KILL_MS, () => killed.resolve(undefined));
  };

  const stop = (why: Stop): void => {
    if (stopped !== undefined || sandbox.exited() !== undefined) return;
    stopped = why;
    if (run.tree) run.tree.terminate();
    else terminateMembers(sandbox.pid_namespace, sandbox.init);
    after(TERM_GRACE_MS, kill);
  };

  // One deadline from the beginning. Reading can't starve it: the event loop looks at its timers between any two rounds of reads.
  after(run.spec.timeout_ms, () => stop({ kind: 'timeout' }));

  const finish = async (): Promise<RunResult> => {
    const exit: Exit | undefined = await Promise.race([sandbox.exit, killed.promise]);
    for (const timer of timers) clearTimeout(timer);
    run.terminal?.leave();
    await run.drain.finished(Promise.all(run.readers.map((reader) => reader.ended)));
    const teardown = await (run.tree?.end() ?? tearDown());
    for (const reader of run.readers) reader.close();
    capture.end();
    sandbox.release();
    const output = capture.view();
    const outcome = outcomeOf({ exit, stop: stopped, teardown });
    const network = run.network?.();
    const receipt: Receipt = {
      exec_id: run.exec_id,
      started_at: run.started_at,
      ended_at: clock.now(),
      outer: sandbox.outer,
      init: sandbox.init,
      ...(sandbox.pid_namespace === NO_NAMESPACE ? {} : { pid_namespace: sandbox.pid_namespace }),
      ...(run.cgroup?.paths[0] === undefined ? {} : { cgroup: run.cgroup.paths.join(':') }),
      containment: run.report,
      teardown,
      quarantined: quarantine(),
      ...(network === undefined ? {} : { network }),
      limits_hit: limitsHit(outcome),
      hints: hints(outcome, output),
    };
    return { outcome, output, receipt };
  };

  const quarantine = (): Receipt['quarantined'] => {
    try {
      return run.quarantine();
    } catch (error) {
      // The result of the run is true without it; that something may be left is said where a person sees it.
      run.logger.error('protected paths could not be checked after a run', { exec_id: run.exec_id, error: String(error) });
      return [];
    }
  };

  const limitsHit = (outcome: Outcome): string[] => [
    ...(run.cgroup?.hits() ?? []),
    // A file over the limit ends its writer with SIGXFSZ.
    ...(outcome.state === 'exited' && outcome.exit_code === 128 + constants.signals.SIGXFSZ ? ['fsize'] : []),
    ...(stopped?.kind === 'disk' ? ['disk'] : []),
    ...(run.spool.stopped === undefined ? [] : ['output']),
  ];

  const hints = (outcome: Outcome, output: OutputView): string[] => {
    const failed = outcome.state !== 'exited' || outcome.exit_code !== 0;
    const { head, tail } = output.combined;
    return [
      ...run.hints({ output: `${head}\n${tail}`, failed }),
      ...(run.spool.stopped === undefined ? [] : [`The rest of the output was counted but not kept: ${run.spool.stopped}.`]),
    ];
  };

  /** Our own failure must not look like an end of the command: it may still be running. */
  const fault = async (error: unknown): Promise<RunResult> => {
    run.logger.error('a run could not be followed to its end', { exec_id: run.exec_id, error: String(error) });
    kill();
    for (const timer of timers) clearTimeout(timer);
    for (const reader of run.readers) reader.close();
    sandbox.release();
    return { outcome: { state: 'lost', reason: `it could not be followed to its end: ${String(error)}` }, output: capture.view() };
  };

  const tearDown = (): Promise<TeardownReport> =>
    endTree(
      {
        outer: sandbox.outer,
        init: sandbox.init,
        pid_namespace: sandbox.pid_namespace,
        killCgroup: () => run.cgroup?.kill() ?? false,
      },
      () => clock.monotonic(),
    );

  return {
    exec_id: run.exec_id,
    report: run.report,
    write: (bytes) => sandbox.exited() === undefined && (run.terminal?.write(bytes) ?? false),
    resize: (cols, rows) => run.terminal?.resize(cols, rows),
    cancel: (reason) => stop({ kind: 'cancel', reason }),
    view: () => capture.view(),
    stop,
    done: finish()
      .catch(fault)
      .finally(() => run.cleanUp()),
  };
}
