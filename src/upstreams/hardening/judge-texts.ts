import { isObject } from '../../kernel/json-rpc/message.ts';
import { visible } from '../../kernel/visible.ts';
import type { JsonObject } from '../types.ts';
import { cleanText, type TextChange } from './clean-text.ts';
import { FINDINGS } from './findings.ts';
import { withoutHidden } from './hidden.ts';
import { type PlacedFinding, scanJson } from './scan.ts';
import { NAME_MARK, stringsOf } from './strings.ts';

export interface Flagged {
  /** Why, in words, safe to print. */
  readonly flags: readonly string[];
  /** A person must look at it before it is used; false: only its text was cleaned. */
  readonly held: boolean;
  readonly findings: readonly PlacedFinding[];
  readonly changes: readonly TextChange[];
}

/** Named one by one; one is enough to look. */
const MAX_STRAY = 10;

export interface JudgedTexts {
  /** As it came, but for cleaned texts. */
  readonly definition: JsonObject;
  readonly flagged?: Flagged;
}

/**
 * Looks through all texts of a definition and cleans those that are shown and never validated against. `contradictions`: what else
 * speaks against it, as sentences without a subject.
 */
export function judgeTexts(given: JsonObject, contradictions: readonly string[] = []): JudgedTexts {
  const findings = scanJson(given);
  const { definition, changes } = cleaned(given);
  // What can't be cleaned without changing what is validated: in names it can only deceive, in texts it may be careless.
  const stray = stringsOf(definition).all.filter(({ text }) => withoutHidden(text) !== text);
  const names = stray.filter(({ path }) => path.endsWith(NAME_MARK));
  if (findings.length + contradictions.length + changes.length + stray.length === 0) return { definition };
  const flags = [
    ...findings.map(({ kind, path, excerpt }) => `A text of it ${FINDINGS[kind]} (${visible(path)}): ${excerpt}`),
    ...contradictions.map((what) => `It ${what}.`),
    ...stray.slice(0, MAX_STRAY).map(({ path }) => `${visible(path)} holds characters that show as nothing, and is left as it is.`),
    ...changes.map(({ field }) => `Its ${field} held characters that show as nothing; they were taken out.`),
  ];
  return { definition, flagged: { flags, held: findings.length + contradictions.length + names.length > 0, findings, changes } };
}

function cleaned(given: JsonObject): { readonly definition: JsonObject; readonly changes: readonly TextChange[] } {
  const changes: TextChange[] = [];
  const clean = (field: string, holder: JsonObject, key: string): JsonObject => {
    const text = holder[key];
    const { text: clean, change } = typeof text === 'string' ? cleanText(field, text) : { text: undefined, change: undefined };
    if (change === undefined) return holder;
    changes.push(change);
    return { ...holder, [key]: clean };
  };
  const definition = clean('title', clean('description', given, 'description'), 'title');
  const { annotations } = definition;
  const shown = isObject(annotations) ? clean('annotations.title', annotations, 'title') : annotations;
  return { definition: shown === annotations ? definition : { ...definition, annotations: shown }, changes };
}
