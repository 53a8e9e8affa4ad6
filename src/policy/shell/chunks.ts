import { ALTERNATIVES, type Meter } from '../budget.ts';
import { HOLE, type Text } from '../text.ts';

/** A piece of a word that is expanded and not yet split. */
export interface Chunk {
  readonly text: Text;
  /**
   * Quoted text keeps an empty field; `split` text came out of an expansion. Between the elements of a list stands a `break` where each is
   * a field for sure (`"$@"`), and a `join` where bash writes the first character of IFS and splits it all again (`$@`). The text of both
   * is what stands between the elements where nothing is split.
   */
  readonly kind: 'literal' | 'quoted' | 'split' | 'break' | 'join';
}

/** Every combination of values that a word may have. */
export type Chunks = readonly (readonly Chunk[])[];

export const BREAK: Chunk = { text: ' ', kind: 'break' };
export const literal = (text: Text): Chunk => ({ text, kind: 'literal' });
export const quoted = (text: Text): Chunk => ({ text, kind: 'quoted' });

/** The value of an expansion. */
export function spread(text: Text, inQuotes: boolean, meter: Meter): Chunk {
  // The word itself costs something too: arrays double as easily as strings.
  meter.fold(text.length + 8);
  return inQuotes ? quoted(text) : { text, kind: 'split' };
}

export const capped = (chunks: Chunks): Chunks => (chunks.length > ALTERNATIVES ? [[quoted(HOLE)]] : chunks);

/** Every combination, or one unknown word where there are too many. */
export function product(lists: readonly Chunks[]): Chunks {
  let all: Chunk[][] = [[]];
  for (const list of lists) {
    if (list.length === 1) {
      const only = list[0] ?? [];
      for (const chunks of all) for (const chunk of only) chunks.push(chunk);
    } else {
      if (all.length * list.length > ALTERNATIVES) return [[quoted(HOLE)]];
      all = all.flatMap((chunks) => list.map((more) => [...chunks, ...more]));
    }
  }
  return all;
}

export const joined = (chunks: readonly Chunk[]): Text => chunks.map(({ text }) => text).join('');
