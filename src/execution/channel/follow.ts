import { constants } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import type { ExecId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { RunNetwork } from '../network/run-network.ts';
import { signalOwned } from '../running/identity.ts';
import type { Prepared } from '../running/prepare.ts';
import type { Exit } from '../running/sandbox.ts';
import { endTree, terminateMembers } from '../running/teardown.ts';
import type { Channel, ChannelEnd, ContainmentReport, TeardownReport } from '../types.ts';
import type { Streams } from './streams.ts';

/** For a program to go by itself, before TERM and again before KILL. */
const GRACE_MS = 2_000;
const MAX_GRACE_MS = 600_000;
/** One that survives KILL (stuck in the kernel) is waited for this long, then reported. */
const EXIT_AFTER_KILL_MS = 5_000;

export interface Followed {
  readonly exec_id: ExecId;
  readonly prepared: Prepared;
  readonly streams: Streams;
  readonly report: ContainmentReport;
  readonly network: RunNetwork;
  /** How its tree is ended, where it has no namespace. */
  readonly loose?: { terminate(): void; kill(): void; end(): Promise<TeardownReport> };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly appeared: () => readonly string[];
  /** Lets go of everything that was made for it. */
  readonly cleanUp: (end: ChannelEnd) => void;
}

/** How far its end has come; each step is taken once. */
const STEPS = ['open', 'input_ended', 'terminated', 'killed'] as const;
type Step = (typeof STEPS)[number];

/** A program from the moment it was let through the gate to the proof of its end. */
export function followChannel(parts: Followed): Channel & { readonly stop: (cause: 'disk') => void } {
  const { prepared, streams, loose, clock } = parts;
  const { sandbox, group } = prepared;
  const killed = Promise.withResolvers<undefined>();
  const timers = new Set<NodeJS.Timeout>();
  let cause: ChannelEnd['cause'] = 'exited';
  let step: Step = 'open';

  const after = (ms: number, action: () => void): void => {
    timers.add(setTimeout(action, ms));
  };
  const TAKE: Readonly<Record<Step, () => void>> = {
    open: () => undefined,
    input_ended: () => streams.stdin.end(),
    terminated: () => (loose ? loose.terminate() : terminateMembers(sandbox.pid_namespace, sandbox.init)),
    killed() {
      group?.kill();
      loose?.kill();
      signalOwned(sandbox.init, 'SIGKILL');
      sandbox.kill();
      after(EXIT_AFTER_KILL_MS, () => killed.resolve(undefined));
    },
  };
  const go = (to: Step): void => {
    if (sandbox.exited() !== undefined) return;
    for (const next of STEPS.slice(STEPS.indexOf(step) + 1, STEPS.indexOf(to) + 1)) {
      step = next;
      TAKE[next]();
    }
  };
  const end = (why: ChannelEnd['cause'], grace_ms: number): void => {
    if (sandbox.exited() !== undefined) return;
    if (cause === 'exited') cause = why;
    go('input_ended');
    after(grace_ms, () => go('terminated'));
    after(2 * grace_ms, () => go('killed'));
  };

  const tearDown = (): Promise<TeardownReport> =>
    endTree(
      { outer: sandbox.outer, init: sandbox.init, pid_namespace: sandbox.pid_namespace, killCgroup: () => group?.kill() ?? false },
      () => clock.monotonic(),
    );

  const finish = async (): Promise<ChannelEnd> => {
    const exit = await Promise.race([sandbox.exit, killed.promise]);
    for (const timer of timers) clearTimeout(timer);
    const teardown = await (loose?.end() ?? tearDown());
    const network = parts.network.use();
    const exited = exitOf(exit);
    const fsize = exited.exit_code === 128 + constants.signals.SIGXFSZ ? ['fsize'] : [];
    return {
      cause,
      ...exited,
      teardown,
      limits_hit: [...(group?.hits() ?? []), ...fsize, ...(cause === 'disk' ? ['disk'] : [])],
      ...(network === undefined ? {} : { network }),
      appeared: parts.appeared(),
    };
  };
  /** A fault of ours is no end of the program: it may be alive. */
  const fault = (thrown: unknown): ChannelEnd => {
    parts.logger.error('a program could not be followed to its end', { exec_id: parts.exec_id, error: String(thrown) });
    TAKE.killed();
    for (const timer of timers) clearTimeout(timer);
    return { cause, teardown: { verified: false, method: 'none', survivors: [], ms: 0 }, limits_hit: [], appeared: [] };
  };
  const settle = (ended: ChannelEnd): ChannelEnd => {
    streams.stdin.destroy();
    sandbox.release();
    group?.release();
    parts.network.close();
    try {
      parts.cleanUp(ended);
    } catch (thrown) {
      // What is left is found by the next start; that the program is gone is true without it.
      parts.logger.warn('what was kept of a program could not be removed', { exec_id: parts.exec_id, error: String(thrown) });
    }
    return ended;
  };

  const ended = finish().catch(fault).then(settle);
  return {
    exec_id: parts.exec_id,
    identity: sandbox.init,
    containment: parts.report,
    ...streams,
    ended,
    close(grace_ms = GRACE_MS) {
      end('closed', Math.min(Math.max(0, grace_ms), MAX_GRACE_MS));
      return ended;
    },
    stop: (why) => end(why, 0),
  };
}

/** bubblewrap says of a signal what a shell says. */
function exitOf(exit: Exit | undefined): Pick<ChannelEnd, 'exit_code' | 'signal'> {
  if (exit === undefined) return {};
  const exit_code = exit.signal === null ? (exit.code ?? 0) : 128 + (constants.signals[exit.signal] ?? 0);
  const [signal] = Object.entries(constants.signals).find(([, number]) => 128 + number === exit_code) ?? [];
  return { exit_code, ...(signal === undefined ? {} : { signal }) };
}
