import { closeSync, constants, mkdirSync, openSync, readlinkSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ExecId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { quarantineAppeared } from '../containment/quarantine.ts';
import type { ContainedRun, ExecutionConfig, Running } from '../core-types.ts';
import type { ContainmentReport } from '../types.ts';
import { createCapture } from './capture.ts';
import { createCgroups } from './cgroups.ts';
import { watchDisk } from './disk-watch.ts';
import { createDrain } from './drain.ts';
import { createFifoPool } from './fifo-pool.ts';
import { hintsFor } from './hints.ts';
import { identify } from './identity.ts';
import { writeIdentity } from './identity-file.ts';
import { MAX_COMMAND_BYTES } from './launcher.ts';
import { neverStarted } from './outcome.ts';
import { abandon, closeEnds, type NotPrepared, type Prepared, type PrepareInput, prepare } from './prepare.ts';
import { createReadBuffer, readPipe } from './reader.ts';
import { containmentReport } from './report.ts';
import { ownHardLimits } from './rlimits.ts';
import { followRun } from './run.ts';
import { createSpoolWriter } from './spool-writer.ts';
import { createWarmPool } from './warm.ts';

export { type IdentityVerdict, identify, judge, signalOwned } from './identity.ts';
export { IDENTITY_FILE, type RunIdentity, readIdentity } from './identity-file.ts';
export { MARKER_VARIABLE, MAX_COMMAND_BYTES } from './launcher.ts';
export { readSpool, type SpoolRequest } from './spool-reader.ts';
export { type Sweep, sweepMarked } from './sweep.ts';
export { endTree } from './teardown.ts';
export { sweepWarm } from './warm.ts';

export interface RunningOptions {
  /** How long a waiting sandbox stays unused. Default 60 s. */
  readonly warm_idle_ms?: number;
}

export function createRunning(config: ExecutionConfig, clock: Clock, options: RunningOptions = {}): Running {
  const supervisor = identify(process.pid);
  if (supervisor === undefined) {
    throw new AppError('containment_unavailable', 'The identity of this process could not be read from /proc.', {
      fix: 'Make sure that /proc is mounted.',
    });
  }
  const scratch = `${config.home}/gates`;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const fifos = createFifoPool(config.home);
  const cgroups = createCgroups(supervisor, silentLogger);
  const buffer = createReadBuffer();
  const parts = { clock, fifos, cgroups, scratch, hard: ownHardLimits() };
  const underWay = new Map<ExecId, ContainedRun>();
  const pool = createWarmPool({
    home: config.home,
    clock,
    supervisor,
    logger: silentLogger,
    prepare: (plan, marker) => prepare({ plan, marker, stdin: 'closed' }, parts),
    ...(options.warm_idle_ms === undefined ? {} : { idle_ms: options.warm_idle_ms }),
  });

  const pass = (input: Parameters<Running['start']>[0], prepared: Prepared, directory: number): ContainedRun => {
    const { exec_id, spec, plan, durable, logger } = input;
    const { sandbox, ends, group } = prepared;
    // Through the descriptor the folder is found wherever it is moved to while the run goes on (a run that becomes a job).
    const folder = `/proc/self/fd/${directory}`;
    writeIdentity(
      folder,
      {
        version: 1,
        exec_id,
        marker: sandbox.marker,
        supervisor,
        outer: sandbox.outer,
        init: sandbox.init,
        pid_namespace: sandbox.pid_namespace,
        cgroups: group?.paths ?? [],
        generation: 1,
        at: clock.now(),
      },
      durable,
    );
    sandbox.open(spec.command);
    const started_at = clock.now();
    const spool = createSpoolWriter(folder, plan.limits.disk_bytes);
    const capture = createCapture(spool);
    const drain = createDrain();
    const report = containmentReport(plan, prepared.limits);
    const terminal = ends.kind === 'terminal' ? ends.terminal : undefined;
    const readers =
      ends.kind === 'terminal'
        ? [ends.terminal.attach(capture, buffer, drain.touch)]
        : [readPipe(ends.stdout, 'stdout', capture, buffer, drain.touch), readPipe(ends.stderr, 'stderr', capture, buffer, drain.touch)];
    const run = followRun({
      exec_id,
      spec,
      sandbox,
      report,
      capture,
      spool,
      readers,
      drain,
      clock,
      logger,
      started_at,
      ...(terminal === undefined ? {} : { terminal }),
      ...(group === undefined ? {} : { cgroup: group }),
      hints: (result) => hintsFor(report, result),
      quarantine: () => quarantineAppeared(plan, readlinkSync(folder)),
      cleanUp() {
        disk.stop();
        group?.release();
        closeSync(directory);
        underWay.delete(exec_id);
      },
    });
    const disk = watchDisk(
      { folders: [plan.private_home, plan.private_tmp], limit_bytes: plan.limits.disk_bytes, since: started_at, logger },
      () => run.stop({ kind: 'disk' }),
    );
    underWay.set(exec_id, run);
    return run;
  };

  return {
    async start(input) {
      const { exec_id, spec, plan } = input;
      checkCommand(spec.command);
      const directory = openSync(input.folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      let prepared: Prepared | NotPrepared | undefined;
      let warm: Prepared | undefined;
      try {
        warm = spec.stdin === 'closed' && spec.pty === undefined ? pool.take(plan) : undefined;
        prepared = warm ?? (await prepare(requestOf(exec_id, input), parts));
        if (!('reason' in prepared)) return pass(input, prepared, directory);
      } catch (error) {
        if (prepared !== undefined && !('reason' in prepared)) {
          await abandon(prepared.sandbox, clock);
          closeEnds(prepared.ends);
          prepared.sandbox.release();
          prepared.group?.release();
        }
        closeSync(directory);
        throw error;
      } finally {
        // From here on identity.json tells about it, or it has been ended.
        if (warm !== undefined) pool.forget(warm.sandbox.marker);
      }
      closeSync(directory);
      return notStarted(exec_id, containmentReport(plan, {}), prepared);
    },
    warm: (plan) => pool.warm(plan),
    async close() {
      for (const run of underWay.values()) run.cancel('Writ is shutting down');
      await Promise.all([...underWay.values()].map((run) => run.done));
      await pool.close();
      await cgroups.close();
      fifos.close();
    },
  };
}

function requestOf(exec_id: ExecId, { spec, plan }: Parameters<Running['start']>[0]): PrepareInput {
  return {
    plan,
    marker: exec_id,
    stdin: spec.stdin,
    ...(spec.pty === undefined ? {} : { pty: spec.pty }),
  };
}

/** A run that is over before it began: no user code ran. */
function notStarted(exec_id: ExecId, report: ContainmentReport, { reason, teardown }: NotPrepared): ContainedRun {
  const nothing = createCapture(createSpoolWriter('/dev/null', 0));
  nothing.end();
  const output = nothing.view();
  return {
    exec_id,
    report,
    write: () => false,
    resize: () => undefined,
    cancel: () => undefined,
    view: () => output,
    done: Promise.resolve({ outcome: neverStarted(reason, teardown), output }),
  };
}

function checkCommand(command: string): void {
  if (command.includes('\0')) throw new AppError('invalid_arguments', 'The command holds a NUL character, which no shell can take.');
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new AppError('invalid_arguments', `The command is ${bytes} bytes long; at most ${MAX_COMMAND_BYTES} are possible.`, {
      fix: 'Write the script to a file in the workspace and run that file.',
    });
  }
}
