import { visible } from '../kernel/visible.ts';
import { describeOpening } from '../policy/index.ts';
import type { Assessment, Decision, Finding, Verdict } from '../policy/types.ts';

/** What each verdict means for whoever typed the command. */
const MEANINGS: Readonly<Record<Verdict, string>> = {
  allow: 'runs without a question',
  contained: 'runs without a question, if all of containment is enforced',
  prompt: 'runs only after a person said yes',
  deny: 'is refused; no yes helps',
};

/** Findings printed one by one; the rest is counted. */
const SHOWN = 40;

/** The decision for a person: verdict, then each finding with its place, its words and what a yes would open. */
export function renderCheck(command: string, assessment: Assessment, decision: Decision): string {
  const lines = [`${decision.verdict}: the command ${MEANINGS[decision.verdict]}`, `effects: ${decision.effects.join(', ')}`];
  if (decision.rule !== undefined) {
    const { list, argv, reason } = decision.rule;
    const words = argv.map((word) => (typeof word === 'string' ? word : `[${word.join('|')}]`)).join(' ');
    lines.push(`decided by the ${list} rule: ${visible(words)}${reason === undefined ? '' : ` (${visible(reason)})`}`);
  }
  if (assessment.unparseable !== undefined) {
    const { reason, at } = assessment.unparseable;
    lines.push(`not understood: ${visible(reason)}${at === undefined ? '' : `, at character ${at + 1}`}`);
  }
  for (const finding of decision.findings.slice(0, SHOWN)) lines.push(...renderFinding(command, finding));
  const more = decision.findings.length - SHOWN;
  if (more > 0) lines.push(`and ${more} more findings; --json prints all of them`);
  if (decision.opens.length > 0) {
    lines.push(decision.verdict === 'prompt' ? 'a yes would open, for this one run:' : 'the rule opens, for this one run:');
    for (const opening of decision.opens) lines.push(`  ${describeOpening(opening)}`);
  } else if (decision.verdict === 'prompt') lines.push('a yes would open nothing: the run stays as contained as any other');
  return lines.join('\n');
}

function renderFinding(command: string, { effect, verdict, span, argv, reason, opens }: Finding): readonly string[] {
  const lines = [`- ${effect}${verdict === undefined ? '' : ` (${verdict})`}: ${visible(reason)}`];
  lines.push(`    at ${span[0] + 1}-${span[1]}: ${shortened(visible(command.slice(span[0], span[1])))}`);
  if (argv.length > 0) lines.push(`    words: ${shortened(argv.map(word).join(' '))}`);
  if (opens !== undefined) lines.push(`    a yes would open ${describeOpening(opens)}`);
  return lines;
}

/** The same as data, whole. Spans count UTF-16 code units from 0, the end is exclusive. */
export function checkToJson(command: string, assessment: Assessment, decision: Decision): Readonly<Record<string, unknown>> {
  return {
    command,
    verdict: decision.verdict,
    effects: decision.effects,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    ...(assessment.unparseable === undefined ? {} : { unparseable: assessment.unparseable }),
    findings: decision.findings,
    commands: assessment.commands,
    opens: decision.opens,
    git_config_write: assessment.git_config_write,
  };
}

const WIDTH = 160;
const shortened = (text: string): string => (text.length <= WIDTH ? text : `${text.slice(0, WIDTH)}... (${text.length} characters)`);

/** A decoded word, quoted where its end would not be seen. */
const word = (text: string): string => (/^[\w./:@%+=,<>*?[\]~{}-]+$/.test(text) ? text : `'${visible(text)}'`);
