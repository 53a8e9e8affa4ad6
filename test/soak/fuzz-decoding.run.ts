import { assessCommand } from '../../src/policy/index.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';
import { CONTEXT } from './shell/context.ts';
import { harmlessScript } from './shell/harmless.ts';
import { startSandboxedBash } from './shell/sandboxed-bash.ts';

/** Decoding: the words that we say a command gets must be the words that a real bash gives it. Only scripts made for this are run. */

/** `show` prints how often it was called and with what; there is no other program to find. */
const RUN = `( PATH=/nowhere; show() { printf '%s\\0' "$#" "$@"; }; eval "$text" ) </dev/null 2>/dev/null`;

const { seed, count } = readOptions(20_000);
const findings = createFindings();
const bash = startSandboxedBash(RUN);
const tally = { same: 0, accounts: 0, open: 0, refused: 0, failed: 0 };

for (let index = 0; index < count; index++) {
  const text = harmlessScript(createRandom(seed + index));
  const [total, ...real] = await bash.ask(text);
  if (total === undefined) {
    // bash ran into an error before it came to the command.
    tally.failed++;
    continue;
  }
  const { commands, unparseable } = assessCommand(text, CONTEXT);
  const shown = commands.filter(({ argv }) => argv[0] === 'show').map(({ argv }) => argv.slice(1));
  const known = shown.every((argv) => argv.every((word) => word !== null));
  if (unparseable !== undefined) tally.refused++;
  else if (shown.length > 0 && !known) tally.open++;
  else if (shown.some((argv) => JSON.stringify(argv) === JSON.stringify(real))) tally.same++;
  // Who has an account is no matter of the text: `~name` is taken for one, and there is nobody in the sandbox.
  else if (shown.some((argv) => JSON.stringify(argv).replaceAll(/\/home\/(?!dev)/g, '~') === JSON.stringify(real))) tally.accounts++;
  else findings.add('other words', `seed ${seed + index}: ${JSON.stringify({ ours: shown, bash: real })} for ${JSON.stringify(text)}`);
}
bash.close();

console.log(
  `${tally.same} with the same words, ${tally.accounts} but for ~name, ${tally.open} in which we leave a word open, ${tally.refused} that we refuse, ${tally.failed} that bash gives up`,
);
conclude(findings);
