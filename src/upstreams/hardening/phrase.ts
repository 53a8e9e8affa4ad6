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

const KEY = 2;

/**
 * Finds phrases in a text of words with a blank at both ends, at most one of each kind. A phrase is tried only where a word begins like its
 * first one, gaps are counted, and no word in a gap is read past 40 characters: the time is linear in the text.
 */
export function createPhraseFinder<Kind>(
  entries: readonly { readonly kind: Kind; readonly phrase: Phrase }[],
): (words: string, wanted: (kind: Kind) => boolean) => readonly PhraseMatch<Kind>[] {
  const index = new Map<string, Indexed<Kind>[]>();
  for (const { kind, phrase } of entries) {
    const entry = { kind, pattern: phraseRegExp(phrase) };
    for (const key of new Set(
      String(phrase[0])
        .split('|')
        .map((first) => first.slice(0, KEY)),
    )) {
      const there = index.get(key);
      if (there === undefined) index.set(key, [entry]);
      else there.push(entry);
    }
  }
  return (words, wanted) => {
    const found: PhraseMatch<Kind>[] = [];
    const open = (kind: Kind): boolean => wanted(kind) && !found.some((match) => match.kind === kind);
    for (let at = 0; at !== -1; at = words.indexOf(' ', at + 1)) {
      for (const { kind, pattern } of index.get(words.slice(at + 1, at + 1 + KEY)) ?? []) {
        if (!open(kind)) continue;
        pattern.lastIndex = at;
        const match = pattern.exec(words);
        if (match !== null) found.push({ kind, text: match[0].trim() });
      }
    }
    return found;
  };
}

function phraseRegExp(phrase: Phrase): RegExp {
  const parts = phrase.map((part) => (typeof part === 'number' ? `(?: \\S{1,40}){0,${part}}` : ` (?:${part})(?= )`));
  return new RegExp(parts.join(''), 'uy');
}
