/**
 * A phrase: alternatives ("ignore|disregard", each may be several words) with the number of other words that may stand between them.
 * Matched on words (lower case, one blank between them), so that punctuation, snake_case and line breaks don't matter.
 */
export type Phrase = readonly (string | number)[];

interface Indexed<Kind> {
  readonly kind: Kind;
  readonly pattern: RegExp;
}

export interface PhraseMatch<Kind> {
  readonly kind: Kind;
  readonly text: string;
}

const ANY_WORD = '\\S{1,40}';
/** Words that carry no meaning of their own: only these may stand between the parts of a phrase that is spread over several texts. */
export const SMALL_WORDS = 'all|any|every|each|the|a|an|your|my|our|these|those|this|of|to|and|you|that|first|please|also|now';

/** Of a first word that is spelled in several ways, so much is the same in all of them. */
const STEM = 3;

/**
 * Finds phrases in a text of words with a blank at both ends, at most one of each kind. A phrase is tried only where its first word stands,
 * gaps are counted, and no word in a gap is read past 40 characters: the time is linear in the text. `between`: what may stand in gaps.
 */
export function createPhraseFinder<Kind>(
  entries: readonly { readonly kind: Kind; readonly phrase: Phrase }[],
  between: string = ANY_WORD,
): (words: string) => readonly PhraseMatch<Kind>[] {
  const byWord = new Map<string, Indexed<Kind>[]>();
  const byStem = new Map<string, Indexed<Kind>[]>();
  for (const { kind, phrase } of entries) {
    const entry = { kind, pattern: phraseRegExp(phrase, between) };
    const firsts = String(phrase[0]).split('|');
    const words = firsts.map((first) => first.split(' ')[0] ?? '');
    for (const word of new Set(words.filter(isLiteral))) push(byWord, word, entry);
    for (const stem of new Set(words.filter((word) => !isLiteral(word)).map((word) => word.slice(0, STEM)))) push(byStem, stem, entry);
  }
  return (words) => {
    const found: PhraseMatch<Kind>[] = [];
    const attempt = (candidates: readonly Indexed<Kind>[], at: number): void => {
      for (const { kind, pattern } of candidates) {
        if (found.some((match) => match.kind === kind)) continue;
        pattern.lastIndex = at;
        const match = pattern.exec(words);
        if (match !== null) found.push({ kind, text: match[0].trim() });
      }
    };
    for (let at = 0, end = words.indexOf(' ', 1); end !== -1; at = end, end = words.indexOf(' ', at + 1)) {
      const literal = byWord.get(words.slice(at + 1, end));
      if (literal !== undefined) attempt(literal, at);
      const spelled = byStem.get(words.slice(at + 1, at + 1 + STEM));
      if (spelled !== undefined) attempt(spelled, at);
    }
    return found;
  };
}

function isLiteral(word: string): boolean {
  return !/[\\[(?*]/.test(word);
}

function push<T>(index: Map<string, T[]>, key: string, value: T): void {
  const there = index.get(key);
  if (there === undefined) index.set(key, [value]);
  else there.push(value);
}

function phraseRegExp(phrase: Phrase, between: string): RegExp {
  const parts = phrase.map((part) => (typeof part === 'number' ? `(?: (?:${between})){0,${part}}` : ` (?:${part})(?= )`));
  return new RegExp(parts.join(''), 'uy');
}
