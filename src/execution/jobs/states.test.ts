import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JOB_STATES, type JobState, type Outcome } from '../types.ts';
import { type Evidence, mayEnd, RETENTION, stateOf, TRANSITIONS } from './states.ts';

const OUTCOMES: readonly Outcome['state'][] = ['exited', 'timed_out', 'cancelled', 'never_started', 'lost'];

/** The files of a folder only ever grow: each step adds one, in any order that processes dying in between could cause. */
const histories = fc
  .tuple(fc.shuffledSubarray(['owner', 'identity'] as const), fc.option(fc.constantFrom(...OUTCOMES), { nil: undefined }))
  .map(([files, end]) => {
    const steps: Evidence[] = [{ spec: 'ok', owner: 'missing', identity: false, result: 'missing' }];
    const last = (): Evidence => steps.at(-1) as Evidence;
    for (const file of files) steps.push(file === 'owner' ? { ...last(), owner: 'ok' } : { ...last(), identity: true });
    if (end) steps.push({ ...last(), result: end });
    return steps;
  });

describe('states', () => {
  it('move only along the table, whatever files appear in whatever order', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const states = steps.map(stateOf);
        for (const [index, state] of states.entries()) {
          const before = states[index - 1];
          if (before === undefined || before === state) continue;
          const allowed = TRANSITIONS[before].includes(state);
          // A result may be written only where the table lets it; that is what `mayEnd` refuses.
          const refused =
            (before === 'starting' || before === 'running') &&
            OUTCOMES.includes(state as Outcome['state']) &&
            !mayEnd(before, state as Outcome['state']);
          expect(allowed || refused).toBe(true);
        }
      }),
    );
  });

  it('end nowhere but at the end', () => {
    for (const state of JOB_STATES) {
      const open = state === 'starting' || state === 'running';
      expect(TRANSITIONS[state].length > 0).toBe(open);
      expect(RETENTION[state] === 'never').toBe(open || state === 'unreadable');
    }
    expect(OUTCOMES.filter((outcome) => mayEnd('running', outcome))).toEqual(OUTCOMES);
    expect(OUTCOMES.filter((outcome) => !mayEnd('starting', outcome))).toEqual(['exited', 'timed_out']);
  });

  it('are unreadable as soon as one file is damaged, whatever the others say', () => {
    const damage: fc.Arbitrary<Evidence> = fc.record({
      spec: fc.constantFrom('ok', 'bad'),
      owner: fc.constantFrom('ok', 'missing', 'bad'),
      identity: fc.boolean(),
      result: fc.constantFrom<Evidence['result']>('missing', 'bad', ...OUTCOMES),
    });
    fc.assert(
      fc.property(damage, (evidence) => {
        const damaged = [evidence.spec, evidence.owner, evidence.result].includes('bad');
        const state: JobState = stateOf(evidence);
        expect(state === 'unreadable').toBe(damaged);
      }),
    );
  });
});
