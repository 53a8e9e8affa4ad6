import { mkdirSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import { type ExecId, newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createContainment } from '../containment/index.ts';
import { kindOf } from '../containment/look.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { Guard, GuardOptions } from '../network/guard.ts';
import { openNetwork } from '../network/run-network.ts';
import { createProofStore } from '../runner/proof-store.ts';
import { createCgroups } from '../running/cgroups.ts';
import { watchDisk } from '../running/disk-watch.ts';
import { createFifoPool } from '../running/fifo-pool.ts';
import { readIdentity } from '../running/identity-file.ts';
import { letThrough } from '../running/let-through.ts';
import { endLoose, killLoose, terminateLoose } from '../running/loose-tree.ts';
import { dismiss, type Prepared, type PrepareParts, prepare } from '../running/prepare.ts';
import { prepareUncontained } from '../running/prepare-uncontained.ts';
import { membersOf } from '../running/proc.ts';
import { containmentReport } from '../running/report.ts';
import { ownHardLimits } from '../running/rlimits.ts';
import { uncontainedReport } from '../running/uncontained-report.ts';
import type { Channel, ChannelEnd, ChannelSpec, ContainmentReport, ProcessIdentity } from '../types.ts';
import { followChannel } from './follow.ts';
import { type PlannedChannel, planChannel } from './plan.ts';
import { type ChannelRecord, makeRecord } from './records.ts';
import { openStreams } from './streams.ts';

/** In one process, those that are being started too. */
const MAX_CHANNELS = 256;
/** When this process ends. */
const CLOSING_GRACE_MS = 1_000;
/** File times come from a clock that ticks in steps of a few milliseconds. */
const CLOCK_SLACK_MS = 20;

export interface Channels {
  connect(spec: ChannelSpec, signal: AbortSignal): Promise<Channel>;
  close(): Promise<void>;
}

interface ChannelsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly self: ProcessIdentity;
  /** For tests: a world of their own behind the allow-list proxies. */
  readonly makeGuard?: (options: GuardOptions) => Guard;
}

/**
 * Programs that stay, as children of this process: their messages go through no third one, and they die with it. Only its main thread
 * may call this, since bubblewrap dies with the thread that started it.
 */
export function createChannels(config: ExecutionConfig, parts: ChannelsParts): Channels {
  const { clock, logger, self } = parts;
  const containment = createContainment(config, logger, createProofStore(config.home, logger));
  const scratch = `${config.home}/gates`;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const fifos = createFifoPool(config.home);
  const cgroups = createCgroups(self, logger);
  const preparing: PrepareParts = { clock, fifos, cgroups, scratch, hard: ownHardLimits() };
  const open = new Set<Channel>();
  const starting = new Set<Promise<Channel>>();
  let closed = false;

  const start = async (spec: ChannelSpec, signal: AbortSignal): Promise<Channel> => {
    const planned = await planChannel(spec, { config, containment });
    checkGoesOn(signal);
    const exec_id = newId('exec', clock.now());
    const record = makeRecord(config.home, exec_id, { name: spec.name, supervisor: self, at: clock.now() });
    const since = clock.now();
    let passed: Awaited<ReturnType<typeof letThrough>>;
    try {
      passed = await letThrough({
        exec_id,
        command: planned.command,
        cwd: planned.plan.cwd,
        folder: record.folder,
        durable: false,
        supervisor: self,
        clock,
        waiting: undefined,
        build: async () => {
          const built = await (spec.uncontained ? prepareUncontained : prepare)(
            { plan: planned.plan, marker: exec_id, stdin: 'open' },
            preparing,
          );
          if ('reason' in built || !signal.aborted) return built;
          return { reason: 'it was cancelled', teardown: await dismiss(built, clock) };
        },
      });
    } catch (thrown) {
      // Nothing was let through, and what was built has been ended.
      record.remove();
      throw thrown;
    }
    if (!('reason' in passed)) {
      try {
        return follow({ exec_id, spec, planned, prepared: passed, record });
      } catch (thrown) {
        // Nobody would ever close what nobody was given.
        if ((await dismiss(passed, clock)).verified) record.remove();
        throw thrown;
      }
    }
    const begun = typeof readIdentity(record.folder) === 'object';
    if (passed.teardown.verified) record.remove();
    checkGoesOn(signal);
    if (!begun && !spec.uncontained) await containment.doubt(planned.plan, since);
    throw new AppError('never_started', `${spec.name} could not be started: ${passed.reason}.`);
  };

  const follow = (started: {
    readonly exec_id: ExecId;
    readonly spec: ChannelSpec;
    readonly planned: PlannedChannel;
    readonly prepared: Prepared;
    readonly record: ChannelRecord;
  }): Channel => {
    const { exec_id, spec, prepared, record } = started;
    const { plan } = started.planned;
    const { sandbox, group } = prepared;
    const tree = { launcher: sandbox.init, marker: sandbox.marker, cgroups: group?.paths ?? [] };
    const { makeGuard } = parts;
    const network = openNetwork({ plan: plan.network, inlets: prepared.inlets, published: new Map(), ...(makeGuard ? { makeGuard } : {}) });
    const cleanUp = ({ teardown }: ChannelEnd): void => {
      disk?.stop();
      open.delete(channel);
      if (teardown.verified || (spec.uncontained && teardown.survivors.length === 0)) record.remove();
      else logger.error('a program could not be seen gone', { name: spec.name, exec_id, survivors: teardown.survivors });
    };
    const channel = followChannel({
      exec_id,
      prepared,
      streams: openStreams(prepared.ends),
      report: reportOf(spec, prepared),
      network,
      ...(spec.uncontained
        ? {
            loose: {
              terminate: () => terminateLoose(tree),
              kill: () => killLoose(tree),
              end: () => endLoose(tree, () => clock.monotonic()),
            },
          }
        : {}),
      clock,
      logger,
      appeared: () => plan.watch.filter((path) => kindOf(path) !== 'absent'),
      cleanUp,
    });
    const disk = spec.uncontained
      ? undefined
      : watchDisk(
          {
            folders: [plan.private_home, plan.private_tmp, ...(spec.installation?.access === 'write' ? [spec.installation.path] : [])],
            limit_bytes: plan.limits.disk_bytes,
            since: clock.now() - CLOCK_SLACK_MS,
            members: () => membersOf(sandbox.pid_namespace) ?? [],
            logger,
          },
          () => channel.stop('disk'),
        );
    open.add(channel);
    return channel;
  };

  return {
    async connect(spec, signal) {
      if (closed) throw new AppError('cancelled', 'Writ is closing; nothing new is started.');
      if (open.size + starting.size >= MAX_CHANNELS) {
        throw new AppError('busy', `${MAX_CHANNELS} programs are connected already, which is the most.`);
      }
      checkGoesOn(signal);
      const begun = start(spec, signal);
      starting.add(begun);
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(cancelled());
      signal.addEventListener('abort', abort);
      try {
        return await Promise.race([begun, aborted.promise]);
      } catch (thrown) {
        throw toAppError(thrown);
      } finally {
        signal.removeEventListener('abort', abort);
        begun
          .then(
            (channel) => (signal.aborted || closed ? channel.close(0) : undefined),
            // Whoever asked has it, or has gone.
            () => undefined,
          )
          .finally(() => starting.delete(begun));
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled(starting);
      await Promise.all([...open].map((channel) => channel.close(CLOSING_GRACE_MS)));
      await cgroups.close();
      fifos.close();
    },
  };
}

const AS_ROOT =
  'Writ runs as root and no root of the program belongs to anybody else: it is mapped to uid 1000 without capabilities, but is root to file permissions on the host. Give its first root to an ordinary user, or start Writ as one.';

const cancelled = (): AppError => new AppError('cancelled', 'The program was no longer wanted while it was being started.');

function checkGoesOn(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

function reportOf({ uncontained }: ChannelSpec, { plan, limits }: Prepared): ContainmentReport {
  const report = uncontained ? uncontainedReport(plan.notes, limits) : containmentReport(plan, limits);
  const { uid } = report.dimensions;
  const wall_clock = { state: 'not_enforced', reason: 'it stays until it is closed, or its parent ends' } as const;
  return {
    ...report,
    dimensions: { ...report.dimensions, wall_clock, uid: uncontained || uid.state === 'enforced' ? uid : { ...uid, reason: AS_ROOT } },
  };
}
