import { conclude, createFindings } from './kit/findings.ts';
import { watchMemory } from './kit/memory.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';
import { runSession } from './mcp/room.ts';

/** Mutated frames against the MCP room in this process: short sessions in all revisions, then one long one. */

const SHORT = 100;
const { seed, count } = readOptions(100_000);
const findings = createFindings();
process.on('uncaughtException', (error) => findings.add('an exception that nobody caught', String(error.stack)));
process.on('unhandledRejection', (reason) => findings.add('a rejection that nobody caught', String(reason)));

const sessions = watchMemory();
let lines = 0;
const inShort = Math.floor(count * 0.8);
for (let done = 0; done < inShort; done += SHORT) {
  // Each session has its own seed, so that one that fails can be run alone: --seed THAT --count 100.
  const own = seed + done;
  const session = await runSession(SHORT, createRandom(own), findings, `seed ${own}`);
  lines += session.lines;
  if ((done / SHORT) % 20 === 0) sessions.sample();
}
const long = await runSession(count - inShort, createRandom(seed + 1), findings, 'the long session');
lines += long.lines;

console.log(
  `${count} frames in ${Math.ceil(inShort / SHORT)} sessions of ${SHORT} and one of ${count - inShort}: ${lines} lines came back`,
);
console.log(`memory: ${sessions.report()}`);
const growth = sessions.problem();
if (growth !== undefined) findings.add('memory', growth);
conclude(findings);
