import { BRACES } from '../budget.ts';

/**
 * Brace expansion over raw text, before anything else happens to a word, as bash does it. Quotes, backslashes and `${` are stepped
 * over. Undefined: more words than `BRACES`.
 */
export function expandBraces(raw: string): readonly string[] | undefined {
  const open = findBrace(raw, 0);
  if (open === undefined) return [raw];
  const { start, end, items } = open;
  const rest = expandBraces(raw.slice(end + 1));
  if (rest === undefined) return undefined;
  const words: string[] = [];
  for (const item of items) {
    const inner = expandBraces(item);
    if (inner === undefined || words.length + inner.length * rest.length > BRACES) return undefined;
    for (const middle of inner) for (const tail of rest) words.push(raw.slice(0, start) + middle + tail);
  }
  return words;
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly items: readonly string[];
}

function findBrace(raw: string, from: number): Brace | undefined {
  for (let i = from; i < raw.length; i++) {
    const skipped = skipQuoted(raw, i);
    if (skipped !== i) i = skipped - 1;
    else if (raw[i] === '{') {
      const found = readBrace(raw, i);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function readBrace(raw: string, start: number): Brace | undefined {
  const cuts: number[] = [];
  let depth = 0;
  for (let i = start; i < raw.length; i++) {
    const skipped = skipQuoted(raw, i);
    if (skipped !== i) {
      i = skipped - 1;
      continue;
    }
    const char = raw[i];
    if (char === '{') depth++;
    else if (char === ',' && depth === 1) cuts.push(i);
    else if (char === '}' && --depth === 0) {
      if (cuts.length > 0) {
        const edges = [start, ...cuts, i];
        return { start, end: i, items: edges.slice(1).map((edge, index) => raw.slice((edges[index] ?? start) + 1, edge)) };
      }
      const items = sequence(raw.slice(start + 1, i));
      return items === undefined ? undefined : { start, end: i, items };
    }
  }
  return undefined;
}

/** The index after a quoted or `$`-part that starts at `i`, or `i` itself. Quotes and substitutions hold each other. */
function skipQuoted(raw: string, i: number): number {
  const char = raw[i];
  const next = raw[i + 1];
  if (char === '\\') return i + 2;
  if (char === "'") return after(raw, i + 1, "'");
  if (char === '`') return until(raw, i + 1, '`', false);
  if (char === '"') return until(raw, i + 1, '"', true);
  if (char === '$' && next === "'") return until(raw, i + 2, "'", false);
  if (char === '$' && next === '{') return nested(raw, i + 1, '{', '}');
  if ((char === '$' || char === '<' || char === '>') && next === '(') return nested(raw, i + 1, '(', ')');
  return i;
}

/** Past the closing character; a backslash takes the next one with it. In double quotes substitutions still count. */
function until(raw: string, from: number, close: string, substitutes: boolean): number {
  let i = from;
  while (i < raw.length && raw[i] !== close) {
    const skipped = substitutes && (raw[i] === '$' || raw[i] === '`') ? skipQuoted(raw, i) : i;
    i = skipped > i ? skipped : i + (raw[i] === '\\' ? 2 : 1);
  }
  return i + 1;
}

function nested(raw: string, from: number, open: string, close: string): number {
  let depth = 0;
  let i = from;
  while (i < raw.length) {
    const skipped = i === from ? i : skipQuoted(raw, i);
    if (skipped > i) {
      i = skipped;
      continue;
    }
    if (raw[i] === open) depth++;
    else if (raw[i] === close && --depth === 0) return i + 1;
    i++;
  }
  return raw.length;
}

const after = (raw: string, from: number, close: string): number => {
  const end = raw.indexOf(close, from);
  return end < 0 ? raw.length : end + 1;
};

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
