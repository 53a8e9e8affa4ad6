import { defaultVerdict, stricter, strictest } from './defaults.ts';
import { matches, namedWords } from './rules.ts';
import type { Assessment, Decision, Finding, Opening, PolicyConfig, Rule, Verdict } from './types.ts';

/** What policy says about one assessed action: floor, then deny, prompt, allow. Nothing lifts a deny. */
export function decide(assessment: Assessment, policy: PolicyConfig): Decision {
  const judged = assessment.findings.map((finding) => ({ finding, verdict: verdictOf(finding, policy) }));
  const floor = assessment.unparseable !== undefined ? 'deny' : strictest(...judged.map(({ verdict }) => verdict));
  const denies = matching(policy.deny, assessment);
  if (floor === 'deny' || denies !== undefined) return answer(assessment, judged, 'deny', denies && { list: 'deny', rule: denies });
  const prompts = matching(policy.prompt, assessment);
  if (prompts !== undefined) return answer(assessment, judged, 'prompt', { list: 'prompt', rule: prompts });
  if (floor !== 'prompt') return answer(assessment, judged, floor);
  const asking = judged.filter(({ verdict }) => verdict === 'prompt');
  const covering = asking.map(({ finding }) => coveredBy(finding, assessment, policy.allow));
  const [first] = covering;
  if (first === undefined || covering.includes(undefined)) return answer(assessment, judged, 'prompt');
  const rest = strictest(...judged.filter(({ verdict }) => verdict !== 'prompt').map(({ verdict }) => verdict));
  return { ...answer(assessment, judged, rest, { list: 'allow', rule: first }), opens: opensOf(asking.map(({ finding }) => finding)) };
}

interface Judged {
  readonly finding: Finding;
  readonly verdict: Verdict;
}

/**
 * A finding may be milder than its class (destructive, but confined) or stricter (only reads, but what is hidden). An operator's
 * override replaces the milder one and the default; it never makes a stricter one milder.
 */
function verdictOf({ effect, verdict }: Finding, policy: PolicyConfig): Verdict {
  if (effect === 'blocked') return 'deny';
  const base = policy.classes[effect];
  const usual = defaultVerdict(effect);
  if (verdict === undefined) return base ?? usual;
  if (stricter(usual, verdict)) return base ?? verdict;
  return strictest(verdict, base ?? usual);
}

/** A strict rule matches a command, or what an unknown word of it may turn out to be. */
function matching(rules: readonly Rule[], assessment: Assessment): Rule | undefined {
  return rules.find((rule) => assessment.commands.some(({ argv }) => matches(rule, argv, 'maybe')));
}

/**
 * The rule that allows the command a finding belongs to, or the wrapper around it, if the rule spells out the inner program too:
 * `sudo apt-get **` covers the apt-get behind sudo, `timeout **` covers nothing inside.
 */
function coveredBy(finding: Finding, { commands }: Assessment, rules: readonly Rule[]): Rule | undefined {
  if (finding.command === undefined) return undefined;
  let command = commands[finding.command];
  let named = 1;
  while (command !== undefined) {
    const { argv, outer } = command;
    const rule = rules.find((one) => matches(one, argv, 'surely') && namedWords(one) >= named);
    if (rule !== undefined) return rule;
    if (outer === undefined) return undefined;
    named += outer.at;
    command = commands[outer.command];
  }
  return undefined;
}

function answer(
  { effects, git_config_write }: Assessment,
  judged: readonly Judged[],
  verdict: Verdict,
  by?: { readonly list: 'deny' | 'prompt' | 'allow'; readonly rule: Rule },
): Decision {
  const deciding = judged.filter((one) => one.verdict === verdict).map(({ finding }) => finding);
  const others = judged.filter((one) => one.verdict !== verdict).map(({ finding }) => finding);
  const rule: { readonly rule?: NonNullable<Decision['rule']> } =
    by === undefined
      ? {}
      : { rule: { list: by.list, argv: by.rule.argv, ...(by.rule.reason === undefined ? {} : { reason: by.rule.reason }) } };
  const asked = judged.filter((one) => one.verdict === 'prompt').map(({ finding }) => finding);
  return {
    verdict,
    effects,
    git_config_write,
    findings: [...deciding, ...others],
    ...rule,
    opens: verdict === 'prompt' ? opensOf(asked) : [],
  };
}

/** Each opening once; hosts together, and what a path that is opened for writing holds is open with it. */
function opensOf(findings: readonly Finding[]): readonly Opening[] {
  const hosts = new Set<string>();
  const presets = new Set<string>();
  const others = new Map<string, Opening>();
  for (const { opens } of findings) {
    if (opens === undefined) continue;
    if (opens.type === 'hosts') {
      for (const host of opens.hosts) hosts.add(host);
      for (const preset of opens.presets) presets.add(preset);
    } else others.set(JSON.stringify(opens), opens);
  }
  // None named is an opening too: whoever is asked may know which one it is, and can put it in.
  const network: readonly Opening[] = findings.some(({ opens }) => opens?.type === 'hosts')
    ? [{ type: 'hosts', hosts: [...hosts], presets: [...presets] }]
    : [];
  const paths = [...others.values()];
  const written = paths.filter((one) => one.type === 'path' && one.access === 'write').map((one) => (one.type === 'path' ? one.path : ''));
  const covered = (one: Opening): boolean =>
    one.type === 'path' && written.some((path) => (one.access === 'read' ? one.path === path : one.path.startsWith(`${path}/`)));
  return [...network, ...paths.filter((one) => !covered(one))];
}
