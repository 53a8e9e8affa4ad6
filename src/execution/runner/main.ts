import { systemClock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Containment, ExecutionConfig, ProofStore, Running } from '../core-types.ts';
import { layoutOf } from '../jobs/layout.ts';
import type { ProbeResult, ProcessIdentity, RunSpec, WorkspaceBind } from '../types.ts';
import { createHost, type HandshakeStep, type Host } from './host.ts';
import { createRunnerLogger } from './log.ts';
import { createProofStore } from './proof-store.ts';
import { errorToWire, type FromRunner, type RequestName, type Requests, type ToRunner } from './protocol.ts';

export interface RunnerParts {
  createContainment(config: ExecutionConfig, logger: Logger, proofs: ProofStore): Containment;
  createRunning(config: ExecutionConfig): Running;
  self(): ProcessIdentity;
  /** Tests end the process at a step. Nothing outside the code that calls `runRunner` can set it. */
  readonly atStep?: (step: HandshakeStep) => void;
}

/**
 * The runner process: hosts executions for the one client at the other end of its IPC channel. When the client goes, foreground
 * runs are ended (their results stay in their folders) and jobs go on; the process ends when nothing is left.
 */
export function runRunner(parts: RunnerParts): void {
  const { send } = process;
  if (!send) throw new AppError('internal', 'The runner is started by Writ itself, with a channel to its client.');
  const clock = systemClock;
  const logger = createRunnerLogger((line) => process.stderr.write(line), process.pid, clock.now);
  let connected = true;
  let room:
    | { readonly host: Host; readonly containment: Containment; readonly running: Running; readonly config: ExecutionConfig }
    | undefined;

  const tell = (message: FromRunner): void => {
    // A send that fails means that the client is gone, and that is told by `disconnect`.
    if (connected) process.send?.(message, undefined, {}, () => {});
  };

  const leaveWhenIdle = (): void => {
    if (connected || (room && room.host.size() > 0)) return;
    void (room?.running.close() ?? Promise.resolve()).finally(() => process.exit(0));
  };

  const configure = (config: ExecutionConfig): NonNullable<typeof room> => {
    const containment = parts.createContainment(config, logger, createProofStore(config.home, logger));
    const running = parts.createRunning(config);
    const host = createHost({
      layout: layoutOf(config.home),
      clock,
      logger,
      self: parts.self(),
      containment,
      running,
      onEnded: (exec_id, result) => tell({ type: 'ended', exec_id, result }),
      onIdle: leaveWhenIdle,
      ...(parts.atStep ? { atStep: parts.atStep } : {}),
    });
    return { host, containment, running, config };
  };

  const answer = async (
    current: NonNullable<typeof room>,
    message: ToRunner & { type: 'request' },
  ): Promise<Requests[RequestName]['answer']> => {
    switch (message.name) {
      case 'probe':
        return withLimits(await current.containment.probe(message.ask), current);
      case 'start':
        await current.host.start(message.ask.kind, message.ask.id);
        return null;
      case 'view':
        return current.host.view(message.ask.exec_id);
      case 'promote':
        current.host.promote(message.ask.exec_id, message.ask.job_id);
        return null;
    }
  };

  const warm = async ({ containment, running, config }: NonNullable<typeof room>, workspaces: readonly WorkspaceBind[]): Promise<void> => {
    const spec = idleSpec(workspaces, config);
    if (spec) running.warm(await containment.plan(spec));
  };

  process.on('message', (message: ToRunner) => {
    if (message.type === 'configure') {
      room = configure(message.config);
      return;
    }
    if (!room) return logger.error('a message came before the configuration', { type: message.type });
    switch (message.type) {
      case 'request': {
        const { seq } = message;
        answer(room, message).then(
          (value) => tell({ type: 'answer', seq, answer: value }),
          (thrown: unknown) => tell({ type: 'failed', seq, error: errorToWire(toAppError(thrown)) }),
        );
        return;
      }
      case 'write':
        return room.host.write(message.exec_id, message.bytes);
      case 'resize':
        return room.host.resize(message.exec_id, message.cols, message.rows);
      case 'cancel':
        return room.host.cancel(message.exec_id, message.reason);
      case 'warm':
        // Only a head start: whatever is wrong is said again, to somebody, when a command is run.
        warm(room, message.workspaces).catch((thrown: unknown) =>
          logger.warn('no sandbox could be prepared', { reason: toAppError(thrown).message }),
        );
        return;
    }
  });
  process.on('disconnect', () => {
    connected = false;
    room?.host.leave('the program that asked for it is gone', 'runs');
    leaveWhenIdle();
  });
  // Its terminal, if the client had one, is no reason to end; a request to end is one for everything here.
  process.on('SIGHUP', () => {});
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      room?.host.leave(`the runner was told to end (${signal})`, 'all');
      if (process.connected) process.disconnect();
      else leaveWhenIdle();
    });
  }
}

/** The probe knows mounts and flags; which limits hold is known to the half that sets them. */
function withLimits(probe: ProbeResult, { running, config }: { running: Running; config: ExecutionConfig }): ProbeResult {
  return probe.ok ? { ...probe, report: running.withLimits(probe.report, config.limits) } : probe;
}

/** What a plain command in these workspaces would be run with: the sandbox prepared for it fits only exactly that. */
function idleSpec(workspaces: readonly WorkspaceBind[], config: ExecutionConfig): RunSpec | undefined {
  const primary = workspaces[0];
  if (!primary) return undefined;
  return {
    command: '',
    cwd: primary.path,
    workspaces,
    owner: { organization: '', agent: '', run: '', workspace: '' },
    stdin: 'closed',
    timeout_ms: 60_000,
    limits: config.limits,
    openings: [],
    git_config_write: false,
  };
}
