import { afterEach, expect, it } from 'vitest';
import { makePlace, type Place, WRIT } from '../helpers/writ-process.ts';
import { recoverFrom } from '../soak/crash/aftermath.ts';
import { judgeStorm } from '../soak/crash/judge.ts';
import { planStorm } from '../soak/crash/plan.ts';
import { runStorm } from '../soak/crash/storm.ts';
import { createFindings } from '../soak/kit/findings.ts';
import { createRandom } from '../soak/kit/random.ts';

/** A small piece of the crash suite (test/soak/crash.run.ts): which processes are killed is fixed, what they are at then is not. */

let place: Place;
afterEach(() => place.remove());

it('whatever of Writ is killed: nothing runs unrecorded or twice, nothing is left, and every account agrees', {
  timeout: 120_000,
}, async () => {
  place = makePlace();
  const findings = createFindings();
  const storm = await runStorm(planStorm(16, createRandom(7)), { place, argv: WRIT, connections: 2, findings });
  const { jobs, rows } = await recoverFrom(storm, { place, argv: WRIT, findings });
  const tally = judgeStorm(storm, { workspace: place.workspace, jobs, rows, findings });
  expect(findings.texts).toEqual([]);
  expect(tally.ran).toBeGreaterThan(0);
  expect(storm.kills.mcp + storm.kills.runner + storm.kills.all).toBeGreaterThan(0);
});
