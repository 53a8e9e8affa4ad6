import { constants } from 'node:os';
import type { Outcome, TeardownReport } from '../types.ts';
import type { Exit } from './sandbox.ts';

/** Why a run was ended by us. */
export type Stop = { readonly kind: 'timeout' } | { readonly kind: 'cancel'; readonly reason: string } | { readonly kind: 'disk' };

export interface Ending {
  /** undefined: it could not be seen to exit. */
  readonly exit: Exit | undefined;
  readonly stop: Stop | undefined;
  readonly teardown: TeardownReport;
}

/**
 * How an execution that passed its gate ended. What we can't vouch for outranks what we did: a tree that wasn't seen gone is never called timed out, cancelled
 * or never started.
 */
export function outcomeOf({ exit, stop, teardown }: Ending): Outcome {
  if (stop !== undefined) return vouched(OUTCOME_OF_STOP[stop.kind](stop), teardown);
  if (exit === undefined) return { state: 'lost', reason: `it was killed, ${UNVERIFIED}` };
  if (exit.signal !== null) return { state: 'exited', exit_code: 128 + (constants.signals[exit.signal] ?? 0), signal: exit.signal };
  return { state: 'exited', exit_code: exit.code ?? 0 };
}

export function neverStarted(reason: string, teardown: TeardownReport): Outcome {
  return vouched({ state: 'never_started', reason }, teardown);
}

function vouched(outcome: Outcome, teardown: TeardownReport): Outcome {
  if (teardown.verified) return outcome;
  const why = 'reason' in outcome ? ` (${outcome.reason})` : '';
  return { state: 'lost', reason: `${WHAT[outcome.state]}${why}, ${UNVERIFIED}` };
}

const UNVERIFIED = 'but its processes could not be seen gone; some of it may still be running';

const WHAT: Readonly<Record<Outcome['state'], string>> = {
  exited: 'it was ended',
  timed_out: 'it reached its time limit and was ended',
  cancelled: 'it was cancelled',
  never_started: 'its sandbox could not be started',
  lost: 'it was lost',
};

const OUTCOME_OF_STOP: { readonly [K in Stop['kind']]: (stop: Stop) => Outcome } = {
  timeout: () => ({ state: 'timed_out', exit_code: 124 }),
  cancel: (stop) => ({ state: 'cancelled', reason: stop.kind === 'cancel' ? stop.reason : '' }),
  disk: () => ({ state: 'exited', exit_code: 128 + constants.signals.SIGKILL, signal: 'SIGKILL' }),
};
