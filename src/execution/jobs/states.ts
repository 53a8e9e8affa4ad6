import type { JobState, Outcome } from '../types.ts';

/** What a state may become. `unreadable` is not a step: any record can be damaged, and nothing is ever written over it. */
export const TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  // `lost` from here: after a restart of the machine nobody can prove that the unsynced record of the gate never existed.
  starting: ['running', 'cancelled', 'never_started', 'lost'],
  // `never_started` from here: its identity was recorded, but the launcher at the gate saw no token.
  running: ['exited', 'timed_out', 'cancelled', 'never_started', 'lost'],
  exited: [],
  timed_out: [],
  cancelled: [],
  never_started: [],
  lost: [],
  unreadable: [],
};

export type OpenState = 'starting' | 'running';

/** Both open states reach every outcome; the types and a property test hold the table to it. */
export function mayEnd(from: OpenState, outcome: Outcome['state']): boolean {
  return TRANSITIONS[from].includes(outcome);
}

/** What the files of a folder say, before anybody asks whether processes are alive. */
export interface Evidence {
  readonly spec: 'ok' | 'bad';
  readonly owner: 'ok' | 'missing' | 'bad';
  readonly identity: boolean;
  readonly result: Outcome['state'] | 'missing' | 'bad';
}

export function stateOf(evidence: Evidence): JobState {
  if (evidence.spec === 'bad' || evidence.owner === 'bad' || evidence.result === 'bad') return 'unreadable';
  if (evidence.result !== 'missing') return evidence.result;
  return evidence.identity ? 'running' : 'starting';
}

/** When the folder of a job may go. `never`: it is needed, or it is evidence that nobody could read yet. */
export const RETENTION: Readonly<Record<JobState, 'never' | 'when_ended'>> = {
  starting: 'never',
  running: 'never',
  exited: 'when_ended',
  timed_out: 'when_ended',
  cancelled: 'when_ended',
  never_started: 'when_ended',
  lost: 'when_ended',
  unreadable: 'never',
};
