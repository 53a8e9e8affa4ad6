import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { identify, judge } from '../running/identity.ts';
import { NO_NAMESPACE, readIdentity } from '../running/identity-file.ts';
import { endLoose } from '../running/loose-tree.ts';
import { sweepMarked } from '../running/sweep.ts';
import { endTree } from '../running/teardown.ts';
import type { ProcessIdentity } from '../types.ts';
import type { Processes } from './processes.ts';

/** The processes of this machine. */
export function createProcesses(home: string, clock: Clock): Processes {
  const me = selfIdentity();
  return {
    self: () => me,
    judge,
    async endRun(folder) {
      const identity = readIdentity(folder);
      if (typeof identity !== 'object') return undefined;
      const { init: launcher, marker, cgroups, pid_namespace } = identity;
      return pid_namespace === NO_NAMESPACE ? endLoose({ launcher, marker, cgroups }, clock.monotonic) : endTree(identity, clock.monotonic);
    },
    async sweepMarked(markers) {
      // Sandboxes that were only waiting have records of their own. Loaded when it is needed: it draws in what builds sandboxes.
      const { sweepWarm } = await import('../running/warm.ts');
      return (await sweepMarked(markers)).found + (await sweepWarm(home));
    },
    markerOf(folder) {
      const identity = readIdentity(folder);
      return typeof identity === 'object' ? identity.marker : undefined;
    },
  };
}

/** Without it nobody could tell later whether this process still lives. */
export function selfIdentity(): ProcessIdentity {
  const me = identify(process.pid);
  if (!me)
    throw new AppError(
      'containment_unavailable',
      "This process can't read its own entry in /proc, so no execution could be accounted for.",
    );
  return me;
}
