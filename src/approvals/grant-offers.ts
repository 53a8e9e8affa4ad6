import type { Redactor } from '../kernel/redaction/index.ts';
import { visible } from '../kernel/visible.ts';
import type { Assessment, Decision, Effect } from '../policy/types.ts';
import type { GrantScope } from './types.ts';

/** Never remembered: these are asked every time. */
const NEVER: ReadonlySet<Effect> = new Set(['destructive', 'unknown', 'credential_access', 'blocked']);

/** In a Run that untrusted text has reached, no remembered answer counts for these. */
const NOT_WHEN_TAINTED: ReadonlySet<Effect> = new Set(['network_egress', 'install', 'credential_access', 'persistence']);

/** Whether a Grant may answer this at all. */
export function mayBeGranted({ effects, opens }: Decision, tainted: boolean): boolean {
  if (effects.some((effect) => NEVER.has(effect)) || opens.some(({ type }) => type === 'uncontained')) return false;
  return !(tainted && effects.some((effect) => NOT_WHEN_TAINTED.has(effect)));
}

/** Leading words that say what a program does: `npm ci`, `git push`. What comes after may differ. */
const VERB = /^[a-z][a-z0-9-]{0,31}$/;
const MOST_WORDS = 3;
const MOST_OFFERED = 8;

/**
 * Remembered answers that may be made of a yes to this, mildest first. Each opens no more than this yes would. A text that is masked
 * on the card is not offered: nobody can agree to what they don't see.
 */
export function offerGrants(
  {
    assessment,
    decision,
    command,
  }: { readonly assessment: Assessment; readonly decision: Decision; readonly command: { readonly digest: string; readonly text: string } },
  redactor: Redactor,
): readonly GrantScope[] {
  if (!mayBeGranted(decision, false)) return [];
  const shown = (text: string): boolean => redactor.text(text) === text && visible(text) === text;
  const offers: GrantScope[] = [{ type: 'command', ...command }];
  const asking = decision.findings.filter(({ opens }) => opens !== undefined);
  const programs = new Map<string, readonly string[]>();
  for (const { command: index } of asking) {
    const words = index === undefined ? undefined : leadingWords(assessment.commands[index]?.argv ?? []);
    if (words?.every(shown)) programs.set(words.join(' '), words);
  }
  for (const argv of programs.values()) offers.push({ type: 'program', argv });
  for (const opening of decision.opens) {
    if (opening.type === 'hosts') for (const host of opening.hosts.filter(shown)) offers.push({ type: 'host', host });
    if (opening.type === 'path' && shown(opening.path)) offers.push({ type: 'path', path: opening.path, access: opening.access });
  }
  return offers.slice(0, MOST_OFFERED);
}

/** The program and the verbs right behind it; without a verb it would be a Grant for whatever the program can do. */
function leadingWords(argv: readonly (string | null)[]): readonly string[] | undefined {
  const [program, ...rest] = argv;
  if (typeof program !== 'string') return undefined;
  const end = rest.findIndex((word) => word === null || !VERB.test(word));
  const verbs = (end < 0 ? rest : rest.slice(0, end)).slice(0, MOST_WORDS - 1).filter((word) => word !== null);
  return verbs.length === 0 ? undefined : [program, ...verbs];
}
