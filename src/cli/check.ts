import type { Assessment, Decision, Finding, Opening, Verdict } from '../policy/types.ts';

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
    for (const opening of decision.opens) lines.push(`  ${renderOpening(opening)}`);
  } else if (decision.verdict === 'prompt') lines.push('a yes would open nothing: the run stays as contained as any other');
  return lines.join('\n');
}

function renderFinding(command: string, { effect, verdict, span, argv, reason, opens }: Finding): readonly string[] {
  const lines = [`- ${effect}${verdict === undefined ? '' : ` (${verdict})`}: ${visible(reason)}`];
  lines.push(`    at ${span[0] + 1}-${span[1]}: ${shortened(visible(command.slice(span[0], span[1])))}`);
  if (argv.length > 0) lines.push(`    words: ${shortened(argv.map(word).join(' '))}`);
  if (opens !== undefined) lines.push(`    a yes would open ${renderOpening(opens)}`);
  return lines;
}

/** One opening in words; also for approval cards. */
export function renderOpening(opening: Opening): string {
  switch (opening.type) {
    case 'hosts': {
      const presets = opening.presets.map((preset) => `the hosts of ${preset}`);
      const named = [...opening.hosts, ...presets];
      return named.length === 0 ? 'no host yet: none is named in the command' : `the network to ${visible(named.join(', '))}`;
    }
    case 'path':
      return `${visible(opening.path)} for ${opening.access === 'read' ? 'reading' : 'reading and writing'}`;
    case 'uncontained':
      return `everything: the command would run without containment (${visible(opening.why)})`;
  }
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

/** Control characters, direction marks and invisible characters as escapes: a terminal must show what the shell would get. */
const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00A0\u2000-\u200A\u202F\u205F\u3000]/gu, (char) =>
    char === '\n' ? '\\n' : char === '\t' ? '\\t' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
