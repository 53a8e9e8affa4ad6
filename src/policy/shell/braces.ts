import { BRACES } from '../budget.ts';

/** Characters that looking for braces in one word may look at: each brace that opens costs a look at what follows. */
const LOOKS = 1_000_000;

/**
 * Brace expansion over raw text, before anything else happens to a word, as bash does it: with its own idea of quotes, and where one that
 * closes counts only once there was a comma. Undefined: more words than `BRACES`, or too much to look at.
 */
export function expandBraces(raw: string): readonly string[] | undefined {
  const budget: Budget = { looks: LOOKS };
  const words = expand(raw, budget);
  return budget.looks < 0 ? undefined : words;
}

interface Budget {
  looks: number;
}

function expand(raw: string, budget: Budget): readonly string[] | undefined {
  let words: readonly string[] = [''];
  /** What follows a brace is a text of its own. */
  let from = 0;
  for (;;) {
    const brace = findBrace(raw, from, budget);
    if (brace === undefined) return words.map((word) => word + raw.slice(from));
    const between = raw.slice(from, brace.start);
    const middles = expandOne(raw.slice(brace.start + 1, brace.end), budget);
    if (middles === undefined || budget.looks < 0 || words.length * middles.length > BRACES) return undefined;
    words = words.flatMap((word) => middles.map((middle) => word + between + middle));
    from = brace.end + 1;
  }
}

/** What stands between two braces, as words. */
function expandOne(body: string, budget: Budget): readonly string[] | undefined {
  if (!/^(?:[^\\,]|\\.)*,/s.test(body)) return sequence(body) ?? [`{${body}}`];
  const words: string[] = [];
  for (let start = 0; start <= body.length; ) {
    const end = find(body, start, ',', budget) ?? body.length;
    const inner = expand(body.slice(start, end), budget);
    if (inner === undefined || words.length + inner.length > BRACES) return undefined;
    words.push(...inner);
    start = end + 1;
  }
  return words;
}

function findBrace(raw: string, from: number, budget: Budget): { readonly start: number; readonly end: number } | undefined {
  for (let at = from; budget.looks >= 0; at++) {
    const start = find(raw, at, '{', budget, from);
    if (start === undefined) return undefined;
    const end = find(raw, start + 1, '}', budget);
    if (end !== undefined) return { start, end };
    at = start;
  }
  return undefined;
}

/** Where the wanted character stands that is neither quoted nor inside something. `word`: where the word starts. */
function find(raw: string, from: number, wanted: '{' | '}' | ',', budget: Budget, word = 0): number | undefined {
  let level = 0;
  let quote = '';
  let separated = wanted !== '}';
  for (let i = from; i < raw.length; i++) {
    if (--budget.looks < 0) return undefined;
    const char = raw[i] ?? '';
    const next = raw[i + 1];
    if (char === '\\' && quote !== "'") i++;
    else if (char === '$' && next === '{' && quote !== "'") {
      i++;
      if (quote === '') level++;
    } else if (next === '(' && (char === '$' ? quote === '' || quote === '"' : quote === '' && (char === '<' || char === '>'))) {
      const end = pastSubstitution(raw, i + 1);
      budget.looks -= end - i;
      i = end - 1;
    } else if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '$' && next === "'") i = pastQuote(raw, i + 2, "'") - 1;
    else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === wanted && level === 0 && separated) {
      // `{}` alone, as `find -exec` has it, is none.
      if (char === '{' && i === word && (next === undefined || next === '}')) continue;
      return i;
    } else if (char === '{') level++;
    else if (char === '}' && level > 0) level--;
    else if (level === 0 && (char === ',' || (char === '.' && next === '.' && raw[i + 2] !== wanted))) separated = true;
  }
  return undefined;
}

/** The index after the parenthesis that closes the one at `from`. Quotes and substitutions hold each other here. */
function pastSubstitution(raw: string, from: number): number {
  let depth = 0;
  let i = from;
  while (i < raw.length) {
    const skipped = skipQuoted(raw, i);
    if (skipped > i) {
      i = skipped;
      continue;
    }
    if (raw[i] === '(') depth++;
    else if (raw[i] === ')' && --depth === 0) return i + 1;
    i++;
  }
  return raw.length;
}

/** The index after a quoted part that starts at `i`, or `i` itself. */
function skipQuoted(raw: string, i: number): number {
  const char = raw[i];
  const next = raw[i + 1];
  if (char === '\\') return i + 2;
  if (char === "'") {
    const end = raw.indexOf(char, i + 1);
    return end < 0 ? raw.length : end + 1;
  }
  if (char === '`' || char === '"') return pastQuote(raw, i + 1, char);
  if (char === '$' && next === "'") return pastQuote(raw, i + 2, "'");
  return i;
}

/** Past the closing character; a backslash takes the next one with it. In double quotes substitutions still count. */
function pastQuote(raw: string, from: number, close: string): number {
  let i = from;
  while (i < raw.length && raw[i] !== close) {
    if (close === '"' && raw[i] === '$' && raw[i + 1] === '(') i = pastSubstitution(raw, i + 1);
    else if (close === '"' && raw[i] === '`') i = pastQuote(raw, i + 1, '`');
    else i += raw[i] === '\\' ? 2 : 1;
  }
  return i + 1;
}

function sequence(body: string): readonly string[] | undefined {
  const numbers = /^([+-]?\d{1,9})\.\.([+-]?\d{1,9})(?:\.\.([+-]?\d{1,9}))?$/.exec(body);
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.([+-]?\d{1,9}))?$/.exec(body);
  const match = numbers ?? letters;
  if (match === null) return undefined;
  const [from, to] = numbers ? [Number(match[1]), Number(match[2])] : [(match[1] ?? '').charCodeAt(0), (match[2] ?? '').charCodeAt(0)];
  const step = Math.max(1, Math.abs(Number(match[3] ?? 1)));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  // Longer than the budget: the caller sees too many words and gives up on the word.
  const shown = Math.min(count, BRACES + 1);
  const width =
    numbers && /^[+-]?0\d/.test(`${match[1]}`)
      ? `${match[1]}`.length
      : numbers && /^[+-]?0\d/.test(`${match[2]}`)
        ? `${match[2]}`.length
        : 0;
  return Array.from({ length: shown }, (_, index) => {
    const value = from + (to >= from ? 1 : -1) * step * index;
    return numbers ? String(value).padStart(width, '0') : String.fromCharCode(value);
  });
}
