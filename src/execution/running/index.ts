import { closeSync, constants, mkdirSync, openSync, readlinkSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig, Running, SandboxPlan } from '../core-types.ts';
import type { Receipt } from '../types.ts';
import { createCapture } from './capture.ts';
import { createDrain } from './drain.ts';
import { createFifoPool, type Pipe } from './fifo-pool.ts';
import { hintsFor } from './hints.ts';
import { identify } from './identity.ts';
import { writeIdentity } from './identity-file.ts';
import { MAX_COMMAND_BYTES } from './launcher.ts';
import { createReadBuffer, readPipe } from './reader.ts';
import { containmentReport } from './report.ts';
import { countsProcessesPerNamespace, ownHardLimits, ulimitLines } from './rlimits.ts';
import { followRun } from './run.ts';
import { awaitBuilt, spawnSandbox } from './sandbox.ts';
import { createSpoolWriter } from './spool-writer.ts';

export { type IdentityVerdict, identify, judge, signalOwned } from './identity.ts';
export { IDENTITY_FILE, type RunIdentity, readIdentity } from './identity-file.ts';
export { MARKER_VARIABLE, MAX_COMMAND_BYTES } from './launcher.ts';
export { readSpool, type SpoolRequest } from './spool-reader.ts';
export { endTree } from './teardown.ts';

export interface RunningParts {
  /** Moves protected paths that appeared during a run into its folder; from containment/. */
  readonly quarantine?: (plan: SandboxPlan, folder: string) => Promise<Receipt['quarantined']>;
}

export function createRunning(config: ExecutionConfig, clock: Clock, parts: RunningParts = {}): Running {
  const fifos = createFifoPool(config.home);
  const scratch = `${config.home}/gates`;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const buffer = createReadBuffer();
  const hard = ownHardLimits();

  return {
    async start({ exec_id, spec, plan, folder, durable, logger }) {
      checkCommand(spec.command);
      // Through the descriptor the folder is reached wherever it is moved to while the run goes on (a run that becomes a job).
      const directory = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      const here = `/proc/self/fd/${directory}`;
      const supervisor = identify(process.pid);
      if (supervisor === undefined) throw new AppError('internal', 'The identity of this process could not be read from /proc.');
      const [out, err] = (await fifos.take(2)) as [Pipe, Pipe];
      const choice = { processes: countsProcessesPerNamespace(), memory: true };
      const sandbox = spawnSandbox({
        plan,
        marker: exec_id,
        streams: { kind: 'pipes', stdin: 'ignore', stdout: out.write, stderr: err.write },
        scratch,
        limitLines: ulimitLines(plan.limits, hard, choice),
      });
      closeSync(out.write);
      closeSync(err.write);
      const built = await awaitBuilt(sandbox);
      if (typeof built === 'string') throw new AppError('internal', built);
      writeIdentity(
        here,
        {
          version: 1,
          exec_id,
          marker: built.marker,
          supervisor,
          outer: built.outer,
          init: built.init,
          pid_namespace: built.pid_namespace,
          cgroups: [],
          generation: 1,
          at: clock.now(),
        },
        durable,
      );
      const spool = createSpoolWriter(here, plan.limits.disk_bytes);
      const capture = createCapture(spool);
      const drain = createDrain();
      const report = containmentReport(plan, {});
      built.open(spec.command);
      return followRun({
        exec_id,
        spec,
        plan,
        sandbox: built,
        report,
        capture,
        spool,
        readers: [readPipe(out.read, 'stdout', capture, buffer, drain.touch), readPipe(err.read, 'stderr', capture, buffer, drain.touch)],
        drain,
        clock,
        logger,
        started_at: clock.now(),
        limitsHit: () => [],
        hints: (result) => hintsFor(report, result),
        quarantine: () => parts.quarantine?.(plan, readlinkSync(here)) ?? Promise.resolve([]),
        cleanUp: async () => closeSync(directory),
      });
    },
    warm() {},
    async close() {
      fifos.close();
    },
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
