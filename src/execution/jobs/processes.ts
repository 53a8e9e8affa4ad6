import type { ProcessIdentity, TeardownReport } from '../types.ts';

/** OWNED: that very process lives. GONE: it ended. FOREIGN: its PID is another's now. UNVERIFIABLE: nobody can say. */
export type Verdict = 'OWNED' | 'GONE' | 'FOREIGN' | 'UNVERIFIABLE';

/** What durability has to know of processes. A port, so that races and dead owners can be played through without waiting for them. */
export interface Processes {
  /** This process. */
  self(): ProcessIdentity;
  judge(identity: ProcessIdentity): Verdict;
  /** Ends what `identity.json` of the folder proves to be ours and still alive; undefined when there is nothing to go by. */
  endRun(folder: string): Promise<TeardownReport | undefined>;
  /** Ends processes that carry one of these run markers; how many there were. */
  sweepMarked(markers: ReadonlySet<string>): Promise<number>;
  /** The marker that an execution's processes carry, if it got so far as to record one. */
  markerOf(folder: string): string | undefined;
}

/** Certainly not alive any more. What can't be verified is left alone. */
export function isDead(verdict: Verdict): boolean {
  return verdict === 'GONE' || verdict === 'FOREIGN';
}
