import { sizeOf } from '../../src/execution/jobs/ended-runs.ts';
import { makePlace } from '../helpers/writ-process.ts';
import { recoverFrom } from './crash/aftermath.ts';
import { judgeStorm } from './crash/judge.ts';
import { planStorm } from './crash/plan.ts';
import { runStorm } from './crash/storm.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';

/** Real `writ mcp` processes on one Writ home, commands in all of them, and SIGKILL at random moments for whatever of Writ is alive. */

const { seed, count, argv } = readOptions(1_000);
const findings = createFindings();
const place = makePlace();
const since = performance.now();
const storm = await runStorm(planStorm(count, createRandom(seed)), { place, argv, connections: 3, findings });
const stormed = performance.now();
const { jobs, rows } = await recoverFrom(storm, { place, argv, findings });
const tally = judgeStorm(storm, { workspace: place.workspace, jobs, rows, findings });

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
const { mcp, runner, all } = storm.kills;
console.log(
  `${count} commands over 3 connections in ${seconds(stormed - since)}, recovered and checked in ${seconds(performance.now() - stormed)}`,
);
console.log(`killed: ${mcp} mcp, ${runner} runners, ${all} in blows at everything; ${storm.starts} starts of writ mcp`);
console.log(`${tally.ran} ran, ${tally.answered} answered, ${tally.unanswered} whose caller died or took them back`);
console.log(`how executions ended: ${JSON.stringify(tally.ends)}; ${jobs.size} jobs; ${rows.length} rows in the audit`);
console.log(`the Writ home takes ${(sizeOf(place.home) / 2 ** 20).toFixed(1)} MiB`);
conclude(findings);
if (findings.count === 0) place.remove();
else console.log(`kept for a look: ${place.home}`);
