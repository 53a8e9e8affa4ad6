import { assessCommand } from '../../src/policy/index.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';
import { CONTEXT } from './shell/context.ts';
import { mutateCommand } from './shell/mutate.ts';
import { startRealBash } from './shell/real-bash.ts';
import { BASH_REFUSES, explain, PRINTED_OTHERWISE, SITTER_SEES, WE_REFUSE } from './shell/reasons.ts';
import { seedCommands } from './shell/seeds.ts';
import { loadTreeSitter } from './shell/tree-sitter.ts';

/** What is a command? The assessor, a real bash (which parses and runs nothing) and tree-sitter-bash must say the same, or it is explained why not. */

/** bash marks quoting with these inside, and prints them wrong; NUL and lone surrogates can't be handed over. */
const UNPRINTABLE = /[\0\x01\x7f]/;
const LONGEST = 20_000;
/** Words that are no commands in bash, and that tree-sitter takes for some. */
const RESERVED = new Set('time coproc ! { } if then elif else fi do done while until for in case esac select function [['.split(' '));

const { seed, count } = readOptions(10_000);
const findings = createFindings();
const seeds = seedCommands();
const sitter = await loadTreeSitter();
const bash = startRealBash();
const agreed = { runs: 0, refused: 0 };
const sitterSaw = { commands: 0, gaveUp: 0 };
const explained = new Map<string, number>();

for (let index = 0; index < count; index++) {
  const own = seed + index;
  const text = mutateCommand(seeds, createRandom(own));
  if (UNPRINTABLE.test(text) || !text.isWellFormed() || text.length > LONGEST) continue;
  const ours = assessCommand(text, CONTEXT);
  const real = await bash.parse(text);
  const differs = (kind: string, reason: string | undefined, detail: unknown): void => {
    if (reason === undefined) findings.add(kind, `seed ${own}: ${JSON.stringify(detail)} in ${JSON.stringify(text)}`);
    else explained.set(`${kind}: ${reason}`, (explained.get(`${kind}: ${reason}`) ?? 0) + 1);
  };

  if (ours.unparseable !== undefined) {
    if (!real.accepted) agreed.refused++;
    else differs('we refuse what bash reads', explain(WE_REFUSE, text, real, ours), ours.unparseable.reason);
    continue;
  }
  if (!real.accepted) {
    differs('bash refuses what we read', explain(BASH_REFUSES, text, real, ours), real.complaint);
    continue;
  }
  agreed.runs++;

  // The dangerous direction: bash would run it, and somebody else sees a command in it that we don't.
  const { clean, commands } = sitter(text);
  if (!clean) sitterSaw.gaveUp++;
  for (const { at, name } of clean ? commands : []) {
    if (name === '') continue;
    sitterSaw.commands++;
    const here = ours.commands.filter(({ span }) => (span[0] <= at && at < span[1]) || span[1] === 0);
    const plain = /^[\w./-]+$/.test(name);
    // A command that is an expansion to nothing is no command; what is inside it is looked for by itself.
    const seen = plain
      ? here.some(({ argv, span }) => argv[0] === name || (argv[0] === null && span[0] === at))
      : here.length > 0 || /^"?[$`]/.test(name);
    if (!seen) differs('tree-sitter sees a command', RESERVED.has(name) ? 'a reserved word' : explain(SITTER_SEES, text, real, ours), name);
  }
  // Here-documents are printed somewhere else, and then stand for something else.
  if (text.includes('<<') || UNPRINTABLE.test(real.printed)) continue;
  const again = assessCommand(real.printed, CONTEXT);
  const lost = again.commands
    .filter(({ argv }) => !ours.commands.some((one) => covers(one.argv, argv)))
    .map(({ argv }) => JSON.stringify(argv));
  if (again.unparseable !== undefined) lost.push(again.unparseable.reason);
  if (lost.length > 0) differs('bash reads other words', explain(PRINTED_OTHERWISE, text, real, ours), { lost, printed: real.printed });
}
bash.close();

console.log(`${agreed.runs} that all read, ${agreed.refused} that all refuse`);
console.log(
  `tree-sitter: ${sitterSaw.commands} commands looked for; an error in ${sitterSaw.gaveUp} texts that bash reads (it is made for editors)`,
);
for (const [why, times] of [...explained].sort(([, a], [, b]) => b - a)) console.log(`explained, ${times}: ${why}`);
conclude(findings);

/** The same words; one that we leave open stands for any. */
function covers(ours: readonly (string | null)[], theirs: readonly (string | null)[]): boolean {
  return ours.length === theirs.length && ours.every((word, at) => word === null || word === theirs[at]);
}
