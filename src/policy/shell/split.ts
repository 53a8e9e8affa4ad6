import { activate, HOLE, isKnown, type Text } from '../text.ts';
import type { Chunk, Chunks } from './chunks.ts';
import { held } from './parameters.ts';
import { distinct, type State } from './state.ts';

const USUAL = ' \t\n';
const WHITE = /[ \t\n]/;

/** Every IFS that words may be split by; HOLE: nothing is known about it. Where it is unset bash takes the usual one. */
function separators(state: State): readonly Text[] {
  const { values, inherited } = held(state, 'IFS');
  return inherited ? [USUAL] : distinct(values);
}

/** What `"$*"` puts between the elements. */
export function firstSeparator(state: State): Text {
  const firsts = distinct(separators(state).map((ifs) => (isKnown(ifs) ? (ifs[0] ?? '') : HOLE)));
  return firsts.length === 1 ? (firsts[0] ?? '') : HOLE;
}

/** The character may end a field. */
export const maySeparate = (char: string, state: State): boolean => separators(state).some((ifs) => !isKnown(ifs) || ifs.includes(char));

/** The fields of a word for every combination of its values. */
export function splitWord(all: Chunks, state: State): readonly (readonly Text[])[] {
  if (all.length === 1 && all[0]?.length === 1) {
    const only = all[0][0];
    if (only?.kind === 'quoted' || (only?.kind === 'literal' && only.text !== '')) return [[only.text]];
  }
  const known = separators(state);
  const only = known.length === 1 ? known[0] : undefined;
  if (only !== undefined && isKnown(only)) return all.map((chunks) => fields(chunks, only));
  const ways = all.flatMap((chunks) =>
    known.flatMap((ifs) => (isKnown(ifs) ? [fields(chunks, ifs)] : [fields(chunks, USUAL), fields(chunks, ''), [HOLE]])),
  );
  return [...new Map(ways.map((way) => [way.join('\0'), way])).values()];
}

function fields(chunks: readonly Chunk[], ifs: string): readonly Text[] {
  const separating = new Set(ifs);
  const done: Text[] = [];
  let current = '';
  let open = false;
  /** White space has ended a field: together with one other separator behind it that is a single gap. */
  let gap = false;
  const close = (): void => {
    if (open) done.push(current);
    current = '';
    open = false;
  };
  const add = (text: Text): void => {
    current += text;
    open = true;
    gap = false;
  };
  const separate = (char: string): void => {
    if (WHITE.test(char)) {
      gap ||= open;
      close();
    } else if (gap) gap = false;
    else {
      open = true;
      close();
    }
  };
  for (const { text, kind } of chunks) {
    if (kind === 'break' || (kind === 'join' && ifs === '')) {
      close();
      gap = false;
    } else if (kind === 'join') separate(ifs[0] ?? ' ');
    else if (kind === 'quoted') add(text);
    else if (kind === 'literal') {
      if (text !== '') add(text);
    } else
      for (const char of text) {
        if (separating.has(char)) separate(char);
        else add(activate(char));
      }
  }
  close();
  return done;
}
