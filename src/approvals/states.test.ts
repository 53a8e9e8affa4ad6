import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardOf, openTestHome, questionOf, type TestHome } from '../../test/helpers/approvals.ts';
import { mayBecome, TRANSITIONS } from './states.ts';
import { APPROVAL_STATES, type ApprovalState } from './types.ts';

let place: TestHome;
beforeAll(() => {
  place = openTestHome();
});
afterAll(() => place.dispose());

test('what is final has no way on, and every state can be reached', () => {
  for (const state of ['denied', 'expired', 'withdrawn', 'used'] as const) expect(TRANSITIONS[state]).toEqual([]);
  const reached = new Set<ApprovalState>(['pending']);
  for (let size = 0; size !== reached.size; ) {
    size = reached.size;
    for (const state of reached) for (const next of TRANSITIONS[state]) reached.add(next);
  }
  expect([...reached].sort()).toEqual([...APPROVAL_STATES].sort());
});

const step = fc.oneof(
  fc.constantFrom('approve', 'deny', 'use', 'use wrongly', 'withdraw', 'taken', 'open again', 'pass a minute', 'set the clock back'),
  fc.constant('pass the end'),
);

test('whatever happens in whatever order, from either process: only along the arrows, and used at most once', async () => {
  const processes = [place.another(), place.another()];
  let question = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(1)), { minLength: 1, maxLength: 12 }), async (steps) => {
      question += 1;
      const asked = questionOf({ digest: `sha256:property-${question}`, card: cardOf({ effects: ['network_egress'] }) });
      const opened = await processes[0]?.approvals.open(asked);
      if (opened === undefined) throw new Error('no process');
      const { id, digest } = opened.record;
      let state: ApprovalState = 'pending';
      let used = 0;
      for (const [what, who] of steps) {
        const approvals = processes[who]?.approvals ?? processes[0]?.approvals;
        if (approvals === undefined) throw new Error('no process');
        if (what === 'approve' || what === 'deny') await approvals.answer(id, { decision: what }, { channel: 'page', who: 'p' });
        else if (what === 'use') used += Number(await approvals.use(id, digest));
        else if (what === 'use wrongly') expect(await approvals.use(id, 'sha256:other')).toBe(false);
        else if (what === 'withdraw') await approvals.withdraw(id, opened.caller);
        else if (what === 'taken') await approvals.taken(id);
        else if (what === 'open again') await approvals.leave(id, (await approvals.open(asked)).caller);
        else if (what === 'pass a minute') place.time.pass(61_000);
        else if (what === 'pass the end') place.time.pass(600_000);
        else place.time.set(-300_000);
        const after = (await approvals.get(id))?.state;
        if (after === undefined) throw new Error('it is gone');
        expect(after === state || mayBecome(state, after), `${state} became ${after} by "${what}"`).toBe(true);
        state = after;
      }
      expect(used).toBeLessThanOrEqual(1);
      expect(state === 'used').toBe(used === 1);
    }),
    { numRuns: 40 },
  );
});
