import { conclude, createFindings } from './kit/findings.ts';
import { watchMemory } from './kit/memory.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';
import { judge } from './shell/judge.ts';
import { mutateCommand } from './shell/mutate.ts';
import { seedCommands } from './shell/seeds.ts';

/** Mutated commands through the assessor: never a throw, never without end, nothing kept. */

const SLOWEST = 5;
const { seed, count } = readOptions(100_000);
const findings = createFindings();
const memory = watchMemory();
const seeds = seedCommands();
const slowest: { readonly ms: number; readonly own: number; readonly text: string }[] = [];
let understood = 0;

for (let index = 0; index < count; index++) {
  // Each has its own seed, so that one that fails can be run alone: --seed THAT --count 1.
  const own = seed + index;
  const text = mutateCommand(seeds, createRandom(own));
  const judged = judge(text, findings, `seed ${own}`);
  if (judged.understood) understood++;
  if (slowest.length < SLOWEST || judged.ms > (slowest.at(-1)?.ms ?? 0)) {
    slowest.push({ ms: judged.ms, own, text });
    slowest.sort((a, b) => b.ms - a.ms).splice(SLOWEST);
  }
  if (index % Math.ceil(count / 60) === 0) memory.sample();
}

console.log(`${count} strings from ${seeds.length} seeds, ${understood} of them understood, the others refused`);
for (const { ms, own, text } of slowest)
  console.log(`slow: ${ms.toFixed(0)} ms, ${text.length} characters, seed ${own}: ${JSON.stringify(text.slice(0, 100))}`);
console.log(`memory: ${memory.report()}`);
const growth = memory.problem();
if (growth !== undefined) findings.add('memory', growth);
conclude(findings);
