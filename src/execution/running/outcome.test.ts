import { describe, expect, it } from 'vitest';
import type { TeardownReport } from '../types.ts';
import { neverStarted, outcomeOf, type Stop } from './outcome.ts';

const proved: TeardownReport = { verified: true, method: 'namespace_init_gone', survivors: [], ms: 1 };
const unproved: TeardownReport = { verified: false, method: 'scan', survivors: [4711], ms: 5000 };
const exit = { code: 0, signal: null };
const stops: readonly Stop[] = [{ kind: 'timeout' }, { kind: 'cancel', reason: 'why' }];

describe('the outcome of a run', () => {
  it.each([
    [
      { code: 0, signal: null },
      { state: 'exited', exit_code: 0 },
    ],
    [
      { code: 125, signal: null },
      { state: 'exited', exit_code: 125 },
    ],
    [{ code: null, signal: 'SIGKILL' } as const, { state: 'exited', exit_code: 137, signal: 'SIGKILL' }],
  ])('%j is %j', (one, outcome) => {
    expect(outcomeOf({ exit: one, stop: undefined, teardown: proved })).toEqual(outcome);
  });

  it('is what we did when we ended it, whatever code it left with', () => {
    expect(stops.map((stop) => outcomeOf({ exit, stop, teardown: proved }))).toEqual([
      { state: 'timed_out', exit_code: 124 },
      { state: 'cancelled', reason: 'why' },
    ]);
  });

  it('is never a verdict that says dead when the tree was not seen gone', () => {
    for (const stop of stops) expect(outcomeOf({ exit, stop, teardown: unproved }).state).toBe('lost');
    expect(outcomeOf({ exit: undefined, stop: undefined, teardown: unproved }).state).toBe('lost');
    expect(neverStarted('no uid map', unproved)).toMatchObject({ state: 'lost', reason: expect.stringContaining('no uid map') });
    expect(neverStarted('no uid map', proved)).toEqual({ state: 'never_started', reason: 'no uid map' });
  });
});
