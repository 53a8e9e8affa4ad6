import { HOLE, type Text } from '../text.ts';
import { held } from './parameters.ts';
import type { State } from './state.ts';

/**
 * In the value of an assignment a tilde behind a colon counts too, and so it does in a word that looks like one; but not in a word that
 * came out of braces.
 */
export type TildePlace = 'word' | 'assignment' | 'braces';

export interface TildeOptions {
  readonly place: TildePlace;
  /** Nothing follows in the word. A name that goes on behind an expansion or a quote is none. */
  readonly whole: boolean;
}

/** `~` and `~name` at the beginning of a word. `source` is that of the text whose value is `value`. */
export function expandTilde(source: string, value: Text, state: State, home: Text, { place, whole }: TildeOptions): Text {
  if (!source.includes('~')) return value;
  const raw = source.replaceAll('\\\n', '');
  const expandOne = (text: string, index = 0, all: readonly string[] = [text]): Text => {
    const match = (place === 'assignment' ? IN_ASSIGNMENT : IN_WORD).exec(text);
    if (match === null || (match[0] === text && index === all.length - 1 && !whole)) return text;
    return folder(match[1] ?? '', state, home) + text.slice(match[0].length);
  };
  if (place === 'assignment') return raw.includes('\\') ? value : value.split(':').map(expandOne).join(':');
  // With a colon and more behind it, bash decides by what that is.
  if ((!whole || raw.includes('\\')) && /^~[^/]*(:|=~)/.test(raw)) return HOLE;
  if (raw[0] === '~') return expandOne(value);
  // `name=~/x` as an argument: bash expands it as in an assignment.
  const equals = /^[A-Za-z_]\w*=(?=.*~)/s.exec(raw);
  if (equals === null || place === 'braces') return value;
  // There may be more of those, by rules that nobody knows.
  if (raw.includes('=~', equals[0].length)) return equals[0] + HOLE;
  return equals[0] + value.slice(equals[0].length).split(':').map(expandOne).join(':');
}

const IN_WORD = /^~([+-]\d*|[\w.-]*)(?=\/|:|=~|$)/;
const IN_ASSIGNMENT = /^~([+-]\d*|[\w.-]*)(?=\/|:|$)/;

function folder(user: string, state: State, home: Text): Text {
  const only = (values: readonly Text[]): Text => (values.length === 1 ? (values[0] ?? HOLE) : HOLE);
  if (user === '') return only(held(state, 'HOME').values);
  if (user === '+') return only(state.cwd);
  if (user === '-') return only(state.oldcwd);
  // A place in the stack of folders.
  if (/^[+-]?\d+$/.test(user)) return /^\+?0$/.test(user) ? only(state.cwd) : HOLE;
  if (user === 'root') return '/root';
  return home.endsWith(`/${user}`) ? home : `/home/${user}`;
}
