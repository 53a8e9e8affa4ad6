import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { AppError, toAppError } from '../kernel/errors.ts';
import type { JobId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { startBrowser as StartBrowserFunction } from './browser/start.ts';
import { findProgram } from './channel/program.ts';
import { sweepChannels } from './channel/records.ts';
import { makeInstallationsFolder } from './containment/installations.ts';
import type { ExecutionConfig } from './core-types.ts';
import { checkSpec, UNCONTAINED_JOB } from './jobs/check-spec.ts';
import { createConfirm, findRun } from './jobs/ended-runs.ts';
import { look } from './jobs/folder.ts';
import { createJobs, type Launch } from './jobs/jobs.ts';
import { layoutOf, makeLayout } from './jobs/layout.ts';
import { applyRetention, endedJobs, recover } from './jobs/recovery.ts';
import { createProcesses, selfIdentity } from './jobs/running-processes.ts';
import { readOutput } from './jobs/spool.ts';
import { type RunnerClient, RunnerGone, startRunner } from './runner/client.ts';
import { createForeground } from './runner/foreground.ts';
import { createSpare } from './runner/spare.ts';
import { readSpool } from './running/spool-reader.ts';
import type { Execution, RunSpec, WorkspaceBind } from './types.ts';
import { notContained, withoutContainment } from './without-containment.ts';

export { programsBeside } from './beside.ts';
export { CHROMIUM_CANDIDATES, findChromium, INSTALL_CHROMIUM } from './browser/find-chromium.ts';
export { createReachGuard, isPlace, type Place, type Reach, readPlace } from './browser/reach.ts';
export type { BrowserConfig, BrowserProcess } from './browser/start.ts';
export { type Contact, createTraffic, type Traffic } from './browser/traffic.ts';
export { channelEnvironment } from './channel/environment.ts';
export type { ExecutionConfig } from './core-types.ts';
export { type Connector, createConnector } from './network/connector.ts';
export { createGuard, type Dialled, type Guard, type GuardOptions, type HostCheck, type Opened, type Resolve } from './network/guard.ts';
export { type OutwardUrl, readOutwardUrl } from './network/outward-url.ts';
export { runnerArgv } from './runner/argv.ts';
export type * from './types.ts';

type StartBrowser = typeof StartBrowserFunction;

export interface ExecutionParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** More job folders than this are not kept, however small they are. */
const MAX_JOBS = 1_000;

/** The next spare runner is made when the answer for this job is on its way. */
const SPARE_AFTER_MS = 20;

/** Retention is looked after again when one process has started so many jobs. */
const RETAIN_EVERY = 20;

/**
 * The room's face for one process. Nothing is executed in it: commands run in a runner process of its own (runner/), jobs in one
 * runner each, and what is known of them is read from their folders (jobs/).
 */
export function createExecution(config: ExecutionConfig, { clock, logger }: ExecutionParts): Execution {
  const layout = layoutOf(config.home);
  try {
    makeLayout(layout);
  } catch (thrown) {
    throw toAppError(thrown);
  }
  const processes = createProcesses(config.home, clock);
  let current: RunnerClient | undefined;
  let closed = false;

  const newRunner = (): RunnerClient => {
    if (closed) throw new AppError('cancelled', 'Writ is closing; nothing new is started.');
    return startRunner(config, layout, logger);
  };
  const runner = (): RunnerClient => {
    if (!current?.usable()) current = newRunner();
    return current;
  };

  const spare = createSpare(newRunner);
  /** Only a head start for the next job, so that no fault of it is this one's. */
  const prepareSpare = (workspaces: readonly WorkspaceBind[]): void => {
    try {
      spare.prepare(workspaces);
    } catch (thrown) {
      logger.warn('no spare runner could be prepared', { reason: toAppError(thrown).message });
    }
  };

  const launch = async (job_id: JobId): Promise<Launch> => {
    const own = spare.take();
    try {
      await own.ask('start', { kind: 'job', id: job_id });
      return { type: 'started' };
    } catch (thrown) {
      if (thrown instanceof RunnerGone) return { type: 'gone', reason: `its runner ended before it had taken it (${thrown.message})` };
      return { type: 'refused', error: toAppError(thrown) };
    } finally {
      own.disconnect();
    }
  };

  const foreground = createForeground({ layout, clock, processes, runner });
  const confirm = createConfirm(layout, clock);
  const jobs = createJobs({ layout, clock, processes, readSpool, launch });
  let started = 0;
  const retention = { retention_ms: config.job_retention_ms, quota_bytes: config.job_quota_bytes, max_jobs: MAX_JOBS };
  const recovery = { layout, clock, processes, retention };

  const uncontained = config.backend === 'none';
  const start: Execution['start'] = (asked, signal) => {
    const spec = uncontained ? withoutContainment(asked) : asked;
    checkSpec(spec);
    return foreground.start(spec, signal);
  };

  let files: ReturnType<Execution['files']> | undefined;

  let channels: Promise<import('./channel/connect.ts').Channels> | undefined;

  const probe: Execution['probe'] = async (options = {}) => {
    if (uncontained) return notContained(clock.now());
    const ask = { fresh: options.fresh ?? false };
    try {
      return await runner().ask('probe', ask);
    } catch (thrown) {
      // Asking again is harmless, and a runner that has just died is no fact about this machine.
      if (!(thrown instanceof RunnerGone)) throw thrown;
      return await runner()
        .ask('probe', ask)
        .catch((again: unknown) => {
          throw new AppError('internal', `The runner process can't be started: ${toAppError(again).message}.`, {
            fix: `See ${join(layout.logs, 'runner.log')}.`,
          });
        });
    }
  };

  return {
    probe,

    start: async (spec, signal) => start(spec, signal),

    async run(spec, signal) {
      const handle = await start(spec, signal);
      const result = await handle.done;
      if (!result) throw new AppError('internal', `${handle.exec_id} became a job that nobody asked for.`);
      confirm([handle.exec_id]);
      return result;
    },

    async output(exec_id, request) {
      const folder = findRun(layout, exec_id);
      return folder === undefined ? undefined : readOutput(folder, request, readSpool);
    },

    async ownerOf(exec_id) {
      const folder = findRun(layout, exec_id);
      const sight = folder === undefined ? undefined : look(folder);
      return sight?.type === 'open' || sight?.type === 'ended' ? sight.spec.spec.owner : undefined;
    },

    jobs: {
      ...jobs,
      async start(spec: RunSpec, signal) {
        checkSpec(spec);
        if (spec.uncontained || uncontained) throw new AppError('invalid_arguments', UNCONTAINED_JOB, { fix: 'Run it in the foreground.' });
        const record = await jobs.start(spec, signal);
        setTimeout(prepareSpare, SPARE_AFTER_MS, spec.workspaces).unref();
        started += 1;
        // `recover` does it at the start of a process; one that lives long must not pile them up.
        if (started % RETAIN_EVERY === 0) {
          applyRetention(recovery).then(
            (removed) => logger.info('old jobs were removed', { removed }),
            (thrown: unknown) => logger.warn('old jobs could not be removed', { reason: toAppError(thrown).message }),
          );
        }
        return record;
      },
    },

    async recover() {
      const report = await recover(recovery);
      const swept_processes = report.swept_processes + (await sweepChannels(config.home, processes, clock.now()));
      try {
        // Loaded when it is needed: it draws in what plans sandboxes.
        (await import('./leftovers.ts')).sweepLeftovers(config, clock.now());
        const removed = await (await import('./container/sweep.ts')).sweepContainers(config);
        if (removed > 0) logger.info('containers of earlier processes were removed', { removed });
      } catch (thrown) {
        logger.warn('what earlier processes left in the Writ home could not be cleared away', { reason: toAppError(thrown).message });
      }
      return { ...report, swept_processes };
    },
    endedJobs: () => endedJobs(recovery),
    confirm: async (ids) => confirm(ids),

    // Loaded when the first file is touched: it draws in what plans sandboxes.
    files: () => {
      files ??= import('./files/view.ts').then(({ createFilesView }) => createFilesView(config, { probe }));
      return files;
    },

    async connect(spec, signal) {
      if (closed) throw new AppError('cancelled', 'Writ is closing; nothing new is started.');
      // Loaded when the first one is connected: it draws in all that plans and builds sandboxes.
      channels ??= import('./channel/connect.ts').then(({ createChannels }) =>
        createChannels(config, { clock, logger, self: selfIdentity() }),
      );
      return (await channels).connect(spec, signal);
    },
    installations: () => makeInstallationsFolder(config),
    findProgram,

    warmUp(workspaces) {
      if (closed || uncontained) return;
      try {
        runner().tell({ type: 'warm', workspaces });
      } catch (thrown) {
        // Only a head start: the first command meets the same and its caller is told.
        logger.warn('no runner could be prepared', { reason: toAppError(thrown).message });
      }
    },

    async close() {
      closed = true;
      spare.close();
      await Promise.all([foreground.close(), channels?.then((made) => made.close())]);
      current?.disconnect();
    },
  };
}

/** A Chromium of this process. Loaded when the first page is opened: it draws in what builds sandboxes. */
export async function startBrowser(...[config, parts]: Parameters<StartBrowser>): ReturnType<StartBrowser> {
  return (await import('./browser/start.ts')).startBrowser(config, parts);
}

/** The program of a runner process; `main/` starts it as an internal command. It never returns: it ends with its work. */
export async function runnerMain(): Promise<void> {
  // Only the runner pays for loading what only the runner does.
  const [{ runRunner }, { createContainment }, { deferContainers }, { createRepositoryFinder }, { createRunning }, { systemClock }] =
    await Promise.all([
      import('./runner/main.ts'),
      import('./containment/index.ts'),
      import('./container/deferred.ts'),
      import('./containment/repositories.ts'),
      import('./running/index.ts'),
      import('../kernel/clock.ts'),
    ]);
  const find = createRepositoryFinder();
  runRunner({
    createContainment: (config, logger, proofs) =>
      config.backend === 'container' ? deferContainers(config, logger, proofs, find) : createContainment(config, logger, proofs, find),
    createRunning: (config) => createRunning(config, systemClock, { find }),
    self: selfIdentity,
  });
}
