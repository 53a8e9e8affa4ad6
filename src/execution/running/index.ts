import { closeSync, constants, mkdirSync, openSync, readlinkSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ExecId } from '../../kernel/ids.ts';
import { type Logger, silentLogger } from '../../kernel/logger.ts';
import { quarantineAppeared } from '../containment/quarantine.ts';
import { createRemembered } from '../containment/remembered.ts';
import { createRepositoryFinder, type FindRepositories } from '../containment/repositories.ts';
import type { ContainedRun, ExecutionConfig, Running, SandboxPlan } from '../core-types.ts';
import type { Guard, GuardOptions } from '../network/guard.ts';
import { closeInlets, type Inlets } from '../network/inlets.ts';
import { takePorts } from '../network/relay.ts';
import { openNetwork } from '../network/run-network.ts';
import type { ContainmentReport, ProcessIdentity, Receipt, RunSpec } from '../types.ts';
import { createCapture } from './capture.ts';
import { createCarriers } from './carriers.ts';
import { createCgroups } from './cgroups.ts';
import { watchDisk } from './disk-watch.ts';
import { createDrain } from './drain.ts';
import { createFifoPool } from './fifo-pool.ts';
import { hintsFor } from './hints.ts';
import { identify } from './identity.ts';
import { MAX_COMMAND_BYTES } from './launcher.ts';
import { letThrough } from './let-through.ts';
import { endLoose, killLoose, terminateLoose } from './loose-tree.ts';
import { neverStarted } from './outcome.ts';
import { type NotPrepared, type Prepared, type PrepareInput, type PrepareParts, prepare } from './prepare.ts';
import { prepareUncontained } from './prepare-uncontained.ts';
import { membersOf } from './proc.ts';
import { createReadBuffer, readPipe } from './reader.ts';
import { containmentReport } from './report.ts';
import { ownHardLimits, processLimitReports } from './rlimits.ts';
import { followRun } from './run.ts';
import { createSpoolWriter } from './spool-writer.ts';
import { uncontainedReport } from './uncontained-report.ts';
import { createWarmPool } from './warm.ts';

export { type IdentityVerdict, identify, judge, signalOwned } from './identity.ts';
export { IDENTITY_FILE, type RunIdentity, readIdentity } from './identity-file.ts';
export { MARKER_VARIABLE, MAX_COMMAND_BYTES } from './launcher.ts';
export { readSpool, type SpoolRequest } from './spool-reader.ts';
export { type Sweep, sweepMarked } from './sweep.ts';
export { endTree } from './teardown.ts';
export { sweepWarm } from './warm.ts';

/** File times come from a clock that ticks in steps of a few milliseconds. */
const CLOCK_SLACK_MS = 20;

type StartInput = Parameters<Running['start']>[0];

export interface RunningOptions {
  /** How long a waiting sandbox stays unused. Default 60 s. */
  readonly warm_idle_ms?: number;
  /** What it remembers spares looking through whole Workspaces after each run. Default: one of its own. */
  readonly find?: FindRepositories;
  /** For what belongs to no single run (waiting sandboxes, control groups). */
  readonly logger?: Logger;
  /** For tests: a world of their own behind the allow-list proxies. */
  readonly makeGuard?: (options: GuardOptions) => Guard;
}

export function createRunning(config: ExecutionConfig, clock: Clock, options: RunningOptions = {}): Running {
  const supervisor = identify(process.pid);
  if (supervisor === undefined) {
    throw new AppError('containment_unavailable', 'The identity of this process could not be read from /proc.', {
      fix: 'Make sure that /proc is mounted.',
    });
  }
  const ownLogger = options.logger ?? silentLogger;
  const scratch = `${config.home}/gates`;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const fifos = createFifoPool(config.home);
  const carriers = createCarriers(scratch);
  const cgroups = createCgroups(supervisor, ownLogger);
  const buffer = createReadBuffer();
  const find = options.find ?? createRepositoryFinder();
  /** What was found after a run of a plan, as long as every look would find the same: most runs change nothing there. */
  const inspected = createRemembered<Receipt['quarantined']>();
  const parts = { clock, fifos, cgroups, scratch, carriers, hard: ownHardLimits() };
  const underWay = new Map<ExecId, ContainedRun>();
  const starting = new Set<Promise<ContainedRun>>();
  let closed = false;
  const pool = createWarmPool({
    home: config.home,
    clock,
    supervisor,
    logger: ownLogger,
    prepare: (plan, marker) => prepare({ plan, marker, stdin: 'closed' }, parts),
    ...(options.warm_idle_ms === undefined ? {} : { idle_ms: options.warm_idle_ms }),
  });

  const follow = (input: StartInput, prepared: Prepared, folder: string, published: Inlets, cleanUp: () => void): ContainedRun => {
    const { exec_id, spec, plan, logger } = input;
    const { sandbox, ends, group } = prepared;
    const started_at = clock.now();
    const spool = createSpoolWriter(folder, plan.limits.disk_bytes);
    const capture = createCapture(spool);
    const drain = createDrain();
    const loose = spec.uncontained ? { launcher: sandbox.init, marker: sandbox.marker, cgroups: group?.paths ?? [] } : undefined;
    const tree = loose
      ? {
          terminate: () => terminateLoose(loose),
          kill: () => killLoose(loose),
          end: () => endLoose(loose, () => clock.monotonic()),
        }
      : sandbox.tree;
    const report = loose ? uncontainedReport(plan.notes, prepared.limits) : containmentReport(plan, prepared.limits);
    const terminal = ends.kind === 'terminal' ? ends.terminal : undefined;
    const { makeGuard } = options;
    const network = openNetwork({ plan: plan.network, inlets: prepared.inlets, published, ...(makeGuard ? { makeGuard } : {}) });
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
      hints: (result) => [...network.hints(), ...hintsFor(report, result)],
      network: () => network.use(),
      ...(tree === undefined ? {} : { tree }),
      quarantine: () =>
        loose ? [] : inspected(plan.key, [plan.repositories], (looks) => quarantineAppeared(plan, readlinkSync(folder), find, looks)),
      cleanUp() {
        disk?.stop();
        group?.release();
        network.close();
        cleanUp();
        underWay.delete(exec_id);
      },
    });
    // The whole disk is open to it.
    const disk = loose
      ? undefined
      : watchDisk(
          {
            folders: [plan.private_home, plan.private_tmp],
            limit_bytes: plan.limits.disk_bytes,
            since: started_at - CLOCK_SLACK_MS,
            members: () => membersOf(sandbox.pid_namespace) ?? [],
            logger,
          },
          () => run.stop({ kind: 'disk' }),
        );
    underWay.set(exec_id, run);
    return run;
  };

  const start = async (input: StartInput): Promise<ContainedRun> => {
    const { exec_id, spec, plan, durable } = input;
    checkCommand(spec.command);
    const directory = openSync(input.folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    // Through the descriptor the folder is found wherever it is moved to while the run goes on (a run that becomes a job).
    const folder = `/proc/self/fd/${directory}`;
    let waiting: Prepared | undefined;
    let passed: Prepared | NotPrepared;
    let published: Inlets | undefined;
    try {
      published = await takePorts(plan.network?.ports ?? []);
      if (spec.stdin === 'closed' && spec.pty === undefined && !spec.uncontained && !plan.container) waiting = await pool.take(plan);
      passed = await letThrough({
        exec_id,
        command: spec.command,
        cwd: plan.cwd,
        folder,
        durable,
        supervisor,
        clock,
        waiting,
        build: () => preparerOf(spec, plan)(requestOf(exec_id, input), { ...parts, supervisor }),
      });
    } catch (error) {
      closeSync(directory);
      if (published !== undefined) closeInlets(published);
      throw error;
    } finally {
      // From here on identity.json tells about it, or it has been ended.
      if (waiting !== undefined) pool.forget(waiting.sandbox.marker);
    }
    if (!('reason' in passed)) return follow(input, passed, folder, published, () => closeSync(directory));
    closeSync(directory);
    closeInlets(published);
    return notStarted(exec_id, spec.uncontained ? uncontainedReport(plan.notes, {}) : containmentReport(plan, {}), passed);
  };

  return {
    async start(input) {
      if (closed) throw new AppError('cancelled', 'Writ is shutting down; nothing was started.');
      const begun = start(input);
      starting.add(begun);
      try {
        return await begun;
      } finally {
        starting.delete(begun);
      }
    },
    withLimits(report, limits) {
      // A container's limits are its own, and the probe has read them back.
      if (report.backend !== 'bubblewrap') return report;
      const group = cgroups.group(limits);
      const byCgroup = group?.dimensions ?? {};
      group?.release();
      return containmentReport(report, { ...processLimitReports(byCgroup), ...byCgroup });
    },
    // A container can't be kept at its gate for as little as it takes to build one.
    warm: (plan) => (plan.container ? undefined : pool.warm(plan)),
    async close() {
      closed = true;
      await Promise.allSettled(starting);
      for (const run of underWay.values()) run.cancel('Writ is shutting down');
      await Promise.all([...underWay.values()].map((run) => run.done));
      await pool.close();
      await cgroups.close();
      fifos.close();
      carriers.close();
    },
  };
}

type Preparer = (request: PrepareInput, parts: PrepareParts & { readonly supervisor: ProcessIdentity }) => Promise<Prepared | NotPrepared>;

/** Each backend brings a run to its gate in its own way; from there on all are the same. */
function preparerOf(spec: RunSpec, plan: SandboxPlan): Preparer {
  if (spec.uncontained) return prepareUncontained;
  // Loaded when it is used: most runners never see a container.
  return plan.container ? async (request, parts) => (await import('../container/prepare.ts')).prepareContainer(request, parts) : prepare;
}

function requestOf(exec_id: ExecId, { spec, plan }: StartInput): PrepareInput {
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
    never_started: true,
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
