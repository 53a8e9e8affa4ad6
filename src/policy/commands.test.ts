import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stricter } from './defaults.ts';
import { type AssessContext, assessCommand, type Decision, decide, type Effect, type PolicyConfig, type Verdict } from './index.ts';

interface Case {
  readonly id: string;
  readonly command?: string;
  readonly repeat?: { readonly prefix: string; readonly unit: string; readonly count: number; readonly suffix: string };
  readonly include?: readonly Effect[];
  readonly exclude?: readonly Effect[];
  readonly verdict: Verdict;
  readonly unparseable?: boolean;
  readonly retired?: string;
}

/** The surroundings that the cases assume. Nothing of the real machine is asked. */
const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};
const policy: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };

const textOf = ({ command, repeat }: Case): string =>
  command ?? (repeat ? repeat.prefix + repeat.unit.repeat(repeat.count) + repeat.suffix : '');

function read(name: string): { readonly cases: readonly Case[]; readonly retired: number } {
  const path = new URL(`../../test/corpora/${name}`, import.meta.url);
  const all = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
  const cases = all.filter((one) => one.retired === undefined);
  return { cases, retired: all.length - cases.length };
}

function problems(one: Case): readonly string[] {
  const text = textOf(one);
  const assessment = assessCommand(text, context);
  const decision: Decision = decide(assessment, policy);
  const found: string[] = [];
  if (decision.verdict !== one.verdict) found.push(`verdict ${decision.verdict}, not ${one.verdict}`);
  for (const { span } of assessment.findings) {
    if (!(span[0] >= 0 && span[0] <= span[1] && span[1] <= text.length)) found.push(`span ${span} lies outside the text`);
  }
  if (one.unparseable) return found;
  if (assessment.unparseable) found.push(`not understood: ${assessment.unparseable.reason}`);
  for (const effect of one.include ?? []) if (!assessment.effects.includes(effect)) found.push(`lacks ${effect}`);
  for (const effect of one.exclude ?? []) if (assessment.effects.includes(effect)) found.push(`must not have ${effect}`);
  return found;
}

for (const name of ['commands.jsonl', 'commands-extra.jsonl']) {
  const { cases, retired } = read(name);
  describe(name, () => {
    it(`has unique ids (${cases.length} cases, ${retired} retired)`, () => {
      expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    });

    it('neither asks too much nor misses anything', () => {
      const verdicts = cases.map((one) => ({ one, verdict: decide(assessCommand(textOf(one), context), policy).verdict }));
      const over = verdicts.filter(({ one, verdict }) => stricter(verdict, one.verdict)).map(({ one }) => one.id);
      const missed = verdicts.filter(({ one, verdict }) => stricter(one.verdict, verdict)).map(({ one }) => one.id);
      expect({ over, missed }).toEqual({ over: [], missed: [] });
    });

    it.each(cases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
      expect(problems(one)).toEqual([]);
    });
  });
}
