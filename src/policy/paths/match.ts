import { mayBe } from '../glob.ts';
import { DEEP, HOLE, isGlob, isKnown, isUnknown, ONE, SOME, STAR, type Text } from '../text.ts';

/** Lines of `tables.ts`, ready to be asked. */
export interface PathTable {
  /** `path`: components from the root. `home`: components below a home, if it lies in one. */
  matches(path: readonly Text[], home: readonly Text[] | undefined): boolean;
}

type Asked = Map<Text, (name: string) => boolean>;

interface Line {
  readonly components: readonly string[];
  readonly below: boolean;
}

const PURE = new RegExp(`^[${STAR}${ONE}${HOLE}${DEEP}]+$`);

const KIND = new RegExp(`^[${STAR}${ONE}]+\\.\\w+$`);

const compile = (line: string): Line => {
  const components = line.replace(/^(~\/|\/)/, '').split('/');
  const below = components.at(-1) === '**';
  return { components: below ? components.slice(0, -1) : components, below };
};

const wildcard = (pattern: string): RegExp => new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}$`, 's');

/**
 * @param sure every name an open component may stand for has to match (for exceptions), not just one of them.
 */
export function createPathTable(lines: readonly string[], sure = false): PathTable {
  const rooted = lines.filter((line) => line.startsWith('/')).map(compile);
  const homely = lines.filter((line) => line.startsWith('~/')).map(compile);
  const anywhere = lines.filter((line) => !line.startsWith('/') && !line.startsWith('~/')).map(compile);
  const wild = new Map<string, RegExp>();
  for (const line of [...rooted, ...homely, ...anywhere]) {
    for (const component of line.components) if (component.includes('*')) wild.set(component, wildcard(component));
  }

  /** @param asked the marked components of one path, compiled once for all lines. */
  function component(word: Text, pattern: string, loose: boolean, asked: Asked): boolean {
    if (word === pattern) return true;
    const expression = wild.get(pattern);
    if (isKnown(word)) return expression?.test(word) ?? false;
    if (sure) return !isUnknown(word) && isKnown(word.at(-1) ?? '') && (expression?.test(word.replace(/[\uFDD0-\uFDEF]/g, 'x')) ?? false);
    // A bare `*` in an ordinary folder is no attempt at a secret; in a place that is itself named by the line it is.
    if (loose && (PURE.test(word) || (word.includes(SOME) && !isGlob(word)))) return false;
    // Nor is `*.json`: it asks for a kind of file. Lines that are a kind themselves (`*.pem`) still match.
    if (loose && KIND.test(word) && expression === undefined) return false;
    const example = pattern.replaceAll('*', 'x');
    // A glob doesn't match a leading dot.
    if (example.startsWith('.') && !word.startsWith('.') && word[0] !== HOLE) return false;
    let could = asked.get(word);
    if (could === undefined) {
      could = mayBe(word);
      asked.set(word, could);
    }
    return could(example);
  }

  function from(words: readonly Text[], at: number, line: Line, loose: boolean, asked: Asked): boolean {
    const { components, below } = line;
    const end = at + components.length;
    if (below ? words.length < end : words.length !== end) return false;
    for (let i = 0; i < components.length; i++) if (!component(words[at + i] ?? '', components[i] ?? '', loose, asked)) return false;
    return true;
  }

  // Most lines begin with a plain name: ask only those whose first name is there.
  const plain = new Map<string, Line[]>();
  const other: Line[] = [];
  for (const line of anywhere) {
    const first = line.components[0] ?? '';
    if (first.includes('*')) other.push(line);
    else plain.set(first, [...(plain.get(first) ?? []), line]);
  }

  return {
    matches: (path, home) => {
      const asked: Asked = new Map();
      if (rooted.some((line) => from(path, 0, line, false, asked))) return true;
      if (home !== undefined && homely.some((line) => from(home, 0, line, false, asked))) return true;
      for (let at = 0; at < path.length; at++) {
        const word = path[at] ?? '';
        if (isKnown(word)) {
          if (plain.get(word)?.some((line) => from(path, at, line, true, asked))) return true;
          if (other.some((line) => from(path, at, line, true, asked))) return true;
        } else if (anywhere.some((line) => from(path, at, line, true, asked))) return true;
      }
      return false;
    },
  };
}
