import type { Finder, Match } from './finder.ts';

/**
 * Where to look at all. Each finder is filed under the first three characters it can start with, folded to 5 bits each (which
 * makes letters caseless), so that a pass is one table look-up per character and a closer look only where one hits.
 */
export interface Index {
  readonly hits: Uint8Array;
  readonly finders: ReadonlyMap<number, readonly Finder[]>;
}

export function buildIndex(entries: readonly { readonly triggers: readonly string[]; readonly find: Finder }[]): Index {
  const hits = new Uint8Array(1 << 15);
  const finders = new Map<number, Finder[]>();
  for (const { triggers, find } of entries) {
    for (const trigger of triggers) {
      const code = fold(trigger, 0);
      hits[code] = 1;
      const filed = finders.get(code) ?? [];
      if (!filed.includes(find)) filed.push(find);
      finders.set(code, filed);
    }
  }
  return { hits, finders };
}

export interface Pass {
  readonly text: string;
  /** From here on text is answered; what is before was answered earlier and is only looked at. */
  readonly emitted: number;
  readonly floor: number;
  readonly final: boolean;
  /** Filled with what was found, in order. */
  readonly spans?: Span[];
}

/** A secret and where it stands in the text. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

export interface PassResult {
  /** The answer for `emitted` up to the new `emitted`. */
  readonly out: string;
  readonly emitted: number;
  readonly floor: number;
  readonly found: boolean;
  /** The last secret goes on in the text to come. */
  readonly run?: RegExp;
}

/**
 * One pass, left to right; of several matches at one place the longest wins. What a match keeps before its secret (a user name, a
 * header; bounded) is scanned by itself, since it may hold another one.
 */
export function scan(index: Index, { text, emitted, floor, final, spans }: Pass): PassResult {
  const { hits, finders } = index;
  let out = '';
  let done = emitted;
  let lowest = floor;
  let found = false;
  let next = emitted;
  let hash = emitted + 1 < text.length ? ((text.charCodeAt(emitted) & 31) << 5) | (text.charCodeAt(emitted + 1) & 31) : 0;
  for (let i = emitted + 2; i < text.length; i++) {
    hash = ((hash << 5) | (text.charCodeAt(i) & 31)) & 0x7fff;
    const at = i - 2;
    if (hits[hash] === 0 || at < next) continue;
    const match = longest(finders.get(hash) ?? [], text, at, { floor: lowest, emitted: done, final });
    if (match === undefined) continue;
    if (match === 'more') return { out: out + text.slice(done, at), emitted: at, floor: lowest, found };
    if (match.kind !== undefined) {
      found = true;
      out += text.slice(done, Math.min(at, match.from));
      if (match.from > at)
        out += scan(index, { text: text.slice(0, match.from), emitted: at, floor: lowest, final: true, ...(spans && { spans }) }).out;
      out += `[redacted:${match.kind}]`;
      spans?.push({ from: match.from, to: match.to, kind: match.kind });
      done = match.to;
    }
    next = match.to;
    lowest = match.to;
    if (match.to === text.length && !final && match.run !== undefined) return { out, emitted: done, floor: lowest, found, run: match.run };
  }
  // The last two characters may begin a trigger.
  const end = final ? text.length : Math.max(done, text.length - 2);
  return { out: out + text.slice(done, end), emitted: end, floor: lowest, found };
}

function longest(finders: readonly Finder[], text: string, at: number, around: Parameters<Finder>[2]): Match | 'more' | undefined {
  let best: Match | undefined;
  for (const find of finders) {
    const match = find(text, at, around);
    if (match === 'more') return match;
    if (match !== undefined && match.from >= around.emitted && (best === undefined || match.to > best.to)) best = match;
  }
  return best;
}

function fold(text: string, at: number): number {
  return ((text.charCodeAt(at) & 31) << 10) | ((text.charCodeAt(at + 1) & 31) << 5) | (text.charCodeAt(at + 2) & 31);
}
