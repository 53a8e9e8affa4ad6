import { isKnown, isUnknown, type Text } from '../text.ts';
import type { AssessContext } from '../types.ts';

/** Where a path word leads: absolute and clean, marks kept. */
export interface Place {
  readonly components: readonly Text[];
  /** It could be anywhere. */
  readonly open: boolean;
}

export const pathOf = (place: Place): Text => `/${place.components.join('/')}`;

const split = (path: Text): readonly Text[] => path.split('/').filter((part) => part !== '' && part !== '.');

/** The longest beginning without marks, resolved through the machine; the rest is hung below it. */
function resolved(components: readonly Text[], context: AssessContext): readonly Text[] {
  let known = 0;
  while (known < components.length && isKnown(components[known] ?? '')) known++;
  if (known === 0) return components;
  const real = context.facts.realpath(`/${components.slice(0, known).join('/')}`);
  return real === undefined ? components : [...split(real), ...components.slice(known)];
}

/** `..` after a symbolic link leads to the parent of its target, so links are resolved before stepping up. */
function clean(words: readonly Text[], context: AssessContext): { readonly lexical: readonly Text[]; readonly real: readonly Text[] } {
  let lexical: Text[] = [];
  let real: readonly Text[] = [];
  for (const word of words) {
    if (word === '..') {
      lexical = lexical.slice(0, -1);
      real = resolved(real, context).slice(0, -1);
    } else {
      lexical.push(word);
      real = [...real, word];
    }
  }
  return { lexical, real: resolved(real, context) };
}

/** Every place a word may mean: for each possible working folder, as written and with symbolic links followed. */
export function places(word: Text, cwds: readonly Text[], context: AssessContext): readonly Place[] {
  const found: Place[] = [];
  const open = isUnknown(word);
  for (const base of word.startsWith('/') ? [''] : cwds) {
    const { lexical, real } = clean(split(word.startsWith('/') ? word : `${base}/${word}`), context);
    const reach = open || isUnknown(base);
    found.push({ components: lexical, open: reach });
    if (!reach && real.join('/') !== lexical.join('/')) found.push({ components: real, open: false });
  }
  return found;
}

/** Provably at or below: every component of `base` is matched by itself. */
export function within(place: Place, base: readonly string[]): boolean {
  return !place.open && place.components.length >= base.length && base.every((part, i) => place.components[i] === part);
}

export const components = (path: string): readonly string[] => path.split('/').filter((part) => part !== '');

/** Exactly one path, which can be named and opened. */
export const exact = (place: Place): string | undefined => (!place.open && place.components.every(isKnown) ? pathOf(place) : undefined);
