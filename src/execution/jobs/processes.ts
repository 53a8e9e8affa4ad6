import type { ExecId } from '../../kernel/ids.ts';
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
  /** Ends processes that carry the run marker of one of these executions; how many there were. */
  sweepMarked(exec_ids: readonly ExecId[]): Promise<number>;
}

/** Certainly not alive any more. What can't be verified is left alone. */
export function isDead(verdict: Verdict): boolean {
  return verdict === 'GONE' || verdict === 'FOREIGN';
}
