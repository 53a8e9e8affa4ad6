import type { Clock } from '../../kernel/clock.ts';
import type { ExecId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ContainedRun, SandboxPlan } from '../core-types.ts';
import type { ContainmentReport, Receipt, RunResult, RunSpec, TeardownReport } from '../types.ts';
import type { Capture } from './capture.ts';
import type { Drain } from './drain.ts';
import { outcomeOf, type Stop } from './outcome.ts';
import type { PipeReader } from './reader.ts';
import type { BuiltSandbox, Exit } from './sandbox.ts';
import type { SpoolWriter } from './spool-writer.ts';
import { endTree, terminateMembers } from './teardown.ts';

/** Between TERM and KILL: time for a handler to clean up; what it prints is still captured. */
const TERM_GRACE_MS = 1_000;
/** A process that survives KILL (stuck in the kernel) is waited for this long, then reported. */
const EXIT_AFTER_KILL_MS = 5_000;

export interface UnderWay {
  readonly exec_id: ExecId;
  readonly spec: RunSpec;
  readonly plan: SandboxPlan;
  readonly sandbox: BuiltSandbox;
  readonly report: ContainmentReport;
  readonly capture: Capture;
  readonly spool: SpoolWriter;
  readonly readers: readonly PipeReader[];
  readonly drain: Drain;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly started_at: number;
  readonly terminal?: { write(bytes: Uint8Array): boolean; resize(cols: number, rows: number): void; leave(): void };
  /** Looks whether limits were hit, after the end. */
  readonly limitsHit: () => readonly string[];
  readonly killCgroup?: () => boolean;
  readonly hints: (result: { readonly output: string; readonly failed: boolean }) => readonly string[];
  readonly quarantine: () => Promise<Receipt['quarantined']>;
  /** Everything that was made for this run and isn't evidence. */
  readonly cleanUp: () => Promise<void>;
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
    run.killCgroup?.();
    sandbox.child.kill('SIGKILL');
    after(EXIT_AFTER_KILL_MS, () => killed.resolve(undefined));
  };

  const stop = (why: Stop): void => {
    if (stopped !== undefined || sandbox.exited() !== undefined) return;
    stopped = why;
    terminateMembers(sandbox.pid_namespace, sandbox.init);
    after(TERM_GRACE_MS, kill);
  };

  // One deadline from the beginning. Reading can't starve it: the event loop looks at its timers between any two rounds of reads.
  after(run.spec.timeout_ms, () => stop({ kind: 'timeout' }));

  const finish = async (): Promise<RunResult> => {
    const exit: Exit | undefined = await Promise.race([sandbox.exit, killed.promise]);
    for (const timer of timers) clearTimeout(timer);
    run.terminal?.leave();
    await run.drain.finished(Promise.all(run.readers.map((reader) => reader.ended)));
    const [teardown, exitCodeInside] = await Promise.all([tearDown(), exitCodeOf()]);
    for (const reader of run.readers) reader.close();
    capture.end();
    sandbox.release();
    const output = capture.view();
    const complaint = output.stderr.head.trim().slice(0, 2_000) || 'the sandbox ended before the command could run';
    const outcome = outcomeOf({ exit, exitCodeInside, stop: stopped, teardown, complaint });
    const limits_hit = [
      ...run.limitsHit(),
      ...(stopped?.kind === 'disk' ? ['disk'] : []),
      ...(run.spool.stopped === undefined ? [] : ['output']),
    ];
    const failed = outcome.state !== 'exited' || outcome.exit_code !== 0;
    const quarantined = await run.quarantine();
    await run.cleanUp();
    const receipt: Receipt = {
      exec_id: run.exec_id,
      started_at: run.started_at,
      ended_at: clock.now(),
      outer: sandbox.outer,
      init: sandbox.init,
      pid_namespace: sandbox.pid_namespace,
      containment: run.report,
      teardown,
      quarantined,
      limits_hit,
      hints: [
        ...run.hints({ output: `${output.stderr.head}\n${output.stderr.tail}\n${output.stdout.tail || output.stdout.head}`, failed }),
        ...(run.spool.stopped === undefined ? [] : [`The rest of the output was counted but not kept: ${run.spool.stopped}.`]),
      ],
    };
    return { outcome, output, ...(outcome.state === 'never_started' ? {} : { receipt }) };
  };

  const tearDown = (): Promise<TeardownReport> =>
    endTree(
      {
        outer: sandbox.outer,
        init: sandbox.init,
        pid_namespace: sandbox.pid_namespace,
        ...(run.killCgroup === undefined ? {} : { killCgroup: run.killCgroup }),
      },
      () => clock.monotonic(),
    );

  /** The status pipe ends with bubblewrap; the bound is for a bubblewrap that couldn't be killed. */
  const exitCodeOf = async (): Promise<number | undefined> => {
    const bound = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => bound.resolve(undefined), 1_000);
    const code = await Promise.race([sandbox.status.ended, bound.promise]);
    clearTimeout(timer);
    return code;
  };

  return {
    exec_id: run.exec_id,
    report: run.report,
    write: (bytes) => sandbox.exited() === undefined && (run.terminal?.write(bytes) ?? false),
    resize: (cols, rows) => run.terminal?.resize(cols, rows),
    cancel: (reason) => stop({ kind: 'cancel', reason }),
    view: () => capture.view(),
    stop,
    done: finish(),
  };
}
