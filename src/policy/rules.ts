import { SYSTEM_BINARIES } from './paths/tables.ts';
import type { Assessment, ParsedCommand, Rule } from './types.ts';

export type LoadedRules =
  | { readonly ok: true; readonly rules: readonly Rule[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type Word = Rule['argv'][number];
type Argv = readonly (string | null)[];

/** How sure a match must be. `surely`: an unknown word fills wildcards only. `maybe`: it may be any literal behind a known program. */
export type Certainty = 'surely' | 'maybe';

const MAX_WORDS = 64;

export function matches(rule: Rule, argv: Argv, certainty: Certainty): boolean {
  const last = rule.argv.length - 1;
  for (let i = 0; i <= last; i++) {
    const pattern = rule.argv[i];
    if (pattern === '**' && i === last) return true;
    if (i >= argv.length) return false;
    const word = argv[i] ?? null;
    if (pattern === undefined || !fits(pattern, word, i, certainty)) return false;
  }
  return argv.length === rule.argv.length;
}

function fits(pattern: Word, word: string | null, index: number, certainty: Certainty): boolean {
  if (typeof pattern !== 'string') return pattern.some((one) => fits(one, word, index, certainty));
  if (pattern === '*') return true;
  if (word === null) return certainty === 'maybe' && index > 0;
  if (pattern === word) return true;
  if (index > 0 || pattern.includes('/')) return false;
  const slash = word.lastIndexOf('/');
  if (slash < 0) return false;
  // `/usr/bin/git` is git for every rule; a git of any other folder is it for the strict ones only.
  return word.slice(slash + 1) === pattern && (certainty === 'maybe' || SYSTEM_BINARIES.has(word.slice(0, slash)));
}

/** How many words of the beginning the rule spells out: an allow rule reaches into a wrapped command only if it names its program. */
export function namedWords(rule: Rule): number {
  const first = rule.argv.findIndex((word) => word === '*' || word === '**');
  return first < 0 ? rule.argv.length : first;
}

/** Rules whose examples hold. `parse` decodes an example into its simple commands (in practice: `assessCommand`). */
export function loadRules(rules: readonly Rule[], parse: (text: string) => Assessment): LoadedRules {
  const problems: string[] = [];
  rules.forEach((rule, index) => {
    const name = `rule ${index + 1} (${rule.argv.map((word) => (typeof word === 'string' ? word : `[${word.join('|')}]`)).join(' ')})`;
    if (rule.argv.length === 0) problems.push(`${name}: argv is empty, it would match nothing; name at least the program`);
    if (rule.argv.length > MAX_WORDS) problems.push(`${name}: argv holds more than ${MAX_WORDS} words`);
    if (rule.argv.some((word, i) => word === '**' && i < rule.argv.length - 1)) problems.push(`${name}: ** may only be the last word`);
    if (rule.argv.some((word) => typeof word !== 'string' && (word.length === 0 || word.includes('**')))) {
      problems.push(`${name}: a list of alternatives holds at least one word and no **`);
    }
    for (const example of rule.match ?? []) {
      const found = commandsOf(example, parse, problems, name);
      if (found !== undefined && !found.some(({ argv }) => matches(rule, argv, 'surely')))
        problems.push(`${name}: the example ${JSON.stringify(example)} under match is not matched`);
    }
    for (const example of rule.not_match ?? []) {
      const found = commandsOf(example, parse, problems, name);
      if (found?.some(({ argv }) => matches(rule, argv, 'surely')))
        problems.push(`${name}: the example ${JSON.stringify(example)} under not_match is matched`);
    }
  });
  return problems.length === 0 ? { ok: true, rules } : { ok: false, problems };
}

function commandsOf(
  example: string,
  parse: (text: string) => Assessment,
  problems: string[],
  name: string,
): readonly ParsedCommand[] | undefined {
  const { commands, unparseable } = parse(example);
  if (unparseable === undefined) return commands;
  problems.push(`${name}: the example ${JSON.stringify(example)} is no valid command (${unparseable.reason})`);
  return undefined;
}
