import type { ParameterExpansionPart, Word, WordPart } from 'unbash';
import type { Meter } from '../budget.ts';
import { HOLE, isUnknown, SOME, type Text } from '../text.ts';
import { BREAK, type Chunk, type Chunks, capped, quoted, spread } from './chunks.ts';
import { held, transform } from './parameters.ts';
import type { Arithmetic, Cell } from './parts.ts';
import { firstSeparator, maySeparate } from './split.ts';
import { distinct } from './state.ts';

/** What the expansion of parameters needs from the expansion of words, which needs it in turn. */
export interface OperationHost {
  readonly meter: Meter;
  readonly arithmetic: Arithmetic;
  /** A variable that only the environment can have filled is expanded. */
  inherited(name: string, cell: Cell, part: { readonly pos: number; readonly end: number }): void;
  wordChunks(word: Word, cell: Cell): Chunks;
  texts(word: Word, cell: Cell): readonly Text[];
  lurking(text: Text, cell: Cell): void;
  /** Source text of an operand that the parser cut in the wrong place: what runs in it is judged. */
  reread(source: string, cell: Cell): void;
  set(name: string, values: readonly Text[], cell: Cell): void;
}

/** `$x`, `${x...}`. */
export interface Operations {
  parameter(name: string, cell: Cell, part: WordPart, inQuotes: boolean): Chunks;
  operation(part: ParameterExpansionPart, cell: Cell, inQuotes: boolean): Chunks;
}

/** A parameter before its operation. */
interface Base {
  readonly values: readonly Text[];
  /** It stands for all of these: `$@`, `${a[@]}`. */
  readonly every?: readonly Text[];
  readonly star?: boolean;
  readonly inherited?: true;
}

export function createOperations(host: OperationHost): Operations {
  const spreadAll = (values: readonly Text[], inQuotes: boolean): Chunks => values.map((value) => [spread(value, inQuotes, host.meter)]);
  const anything = (inQuotes: boolean): Chunks => spreadAll([HOLE], inQuotes);

  function parameter(name: string, cell: Cell, part: WordPart, inQuotes: boolean): Chunks {
    const found = held(cell.state, name);
    if (found.inherited) host.inherited(name, cell, part);
    if (name === '@' || name === '*') return [list(found.elements ?? [HOLE], name === '*', inQuotes, cell)];
    return spreadAll(found.values, inQuotes);
  }

  /** `"$@"` gives a field for each element; `"$*"` joins them. */
  function list(elements: readonly Text[], star: boolean, inQuotes: boolean, cell: Cell): readonly Chunk[] {
    const first = star ? firstSeparator(cell.state) : ' ';
    if (inQuotes && star) return [quoted(elements.join(first))];
    const between: Chunk = inQuotes ? BREAK : { text: first, kind: 'join' };
    return elements.flatMap((element, index) => {
      const chunk = spread(element, inQuotes, host.meter);
      return index === 0 ? [chunk] : [between, chunk];
    });
  }

  function operation(part: ParameterExpansionPart, cell: Cell, inQuotes: boolean): Chunks {
    const { operation: what, prefix } = part;
    const found = base(part, cell);
    if (prefix === '#') return [[quoted(SOME)]];
    if (found.inherited && !(what?.type === 'Default' && what.operator.endsWith('+'))) host.inherited(part.parameter, cell, part);
    if (what === undefined) return whole(found, cell, inQuotes);
    if (what.type === 'Default') return defaults(part, found, cell, inQuotes);
    // The parser cuts a replacement at the first slash, even inside a substitution: such a text is judged as a whole instead.
    if ((what.type === 'Replace' || what.type === 'Unknown') && /\$\(|`|\$\{|[<>]\(/.test(part.text.slice(2))) {
      const from = part.text.indexOf(what.operator, 2) + what.operator.length;
      host.reread(part.text.slice(from, -1), cell);
      return anything(inQuotes);
    }
    if (what.type === 'Names' || what.type === 'Unknown') return anything(inQuotes);
    const operand = (word: Word | undefined): Text => {
      if (word === undefined) return '';
      const all = host.texts(word, cell);
      return all.length === 1 ? (all[0] ?? '') : HOLE;
    };
    if (what.type === 'Transform' && operand(what.operand) === 'P') for (const value of found.values) host.lurking(value, cell);
    const [first, second] =
      what.type === 'Replace'
        ? [operand(what.pattern), operand(what.replacement)]
        : what.type === 'Slice'
          ? [operand(what.offset), what.length === undefined ? undefined : operand(what.length)]
          : [operand(what.operand), undefined];
    if (found.every === undefined) {
      return spreadAll(distinct(found.values.flatMap((value) => transform(value, what, first, second))), inQuotes);
    }
    const each =
      what.type === 'Slice'
        ? slice(part, found.every, first, second)
        : found.every.map((value) => {
            const all = transform(value, what, first, second);
            return all.length === 1 ? (all[0] ?? '') : HOLE;
          });
    return each === undefined ? anything(inQuotes) : [list(each, found.star ?? false, inQuotes, cell)];
  }

  const whole = (found: Base, cell: Cell, inQuotes: boolean): Chunks =>
    found.every === undefined ? spreadAll(found.values, inQuotes) : [list(found.every, found.star ?? false, inQuotes, cell)];

  /** Some of the elements; undefined: which ones isn't known. */
  function slice(
    part: ParameterExpansionPart,
    every: readonly Text[],
    offset: Text,
    length: Text | undefined,
  ): readonly Text[] | undefined {
    const from = Number(offset) - (part.parameter === '@' || part.parameter === '*' ? 1 : 0);
    const count = length === undefined ? undefined : Number(length);
    if (!Number.isInteger(from) || from < 0 || (count !== undefined && !(Number.isInteger(count) && count >= 0))) return undefined;
    const end = count === undefined ? every.length : from + count;
    // An open element may have been several words or none: then the places behind it aren't known.
    return every.slice(0, end).some(isUnknown) ? undefined : every.slice(from, end);
  }

  /** Indirection and subscript applied. */
  function base(part: ParameterExpansionPart, cell: Cell): Base {
    const name = part.parameter;
    if (part.prefix === '!' && part.operation?.type !== 'Names') {
      if (part.index !== undefined) return { values: [HOLE] };
      const names = held(cell.state, name).values;
      const all = names.flatMap((indirect) => {
        host.lurking(indirect, cell);
        if (!/^\w+$/.test(indirect)) return [HOLE];
        const found = held(cell.state, indirect);
        if (found.inherited) host.inherited(indirect, cell, part);
        return found.values;
      });
      return { values: distinct(all) };
    }
    const found = held(cell.state, name);
    if (part.index === undefined)
      return name === '@' || name === '*' ? { ...found, every: found.elements ?? [HOLE], star: name === '*' } : found;
    const raw = part.index.text;
    const elements = found.elements ?? found.values;
    if (raw === '@' || raw === '*') return { ...found, every: elements, star: raw === '*' };
    const picked = host.texts(part.index, cell).flatMap((index) => {
      host.lurking(index, cell);
      const value = host.arithmetic.number(index, cell);
      if (value === undefined) return found.inherited ? [HOLE] : [...elements];
      // An open element may have been several words or none: what stands at a place behind it isn't known.
      const passed = value < 0 ? elements : elements.slice(0, value + 1);
      return [passed.some(isUnknown) ? HOLE : (elements.at(value) ?? '')];
    });
    return { values: distinct(picked), ...(found.inherited ? { inherited: true as const } : {}) };
  }

  function defaults(part: ParameterExpansionPart, found: Base, cell: Cell, inQuotes: boolean): Chunks {
    const what = part.operation;
    if (what?.type !== 'Default') return [[]];
    const { operator, operand } = what;
    const values = found.every !== undefined ? [found.every.join(' ')] : found.values;
    const surelySet = values.every((value) => value !== '' && !isUnknown(value));
    // Without a colon an empty variable counts as set; which of the empty ones are set isn't kept.
    const perhapsSet = operator.length === 1 && values.includes('');
    const surelyEmpty = !perhapsSet && values.every((value) => value === '');
    const filled = values.filter((value) => value !== '' || perhapsSet);
    const kept = found.every !== undefined && filled.length > 0 ? whole(found, cell, inQuotes) : spreadAll(filled, inQuotes);
    const kind = operator.at(-1);
    if (kind === '?') {
      host.texts(operand, cell);
      return kept.length === 0 ? spreadAll([''], inQuotes) : kept;
    }
    const other = (): Chunks => alternative(operand, cell, inQuotes);
    if (kind === '+') {
      // Expanded in any case: a substitution in it is there to be judged.
      const instead = other();
      if (surelyEmpty) return spreadAll([''], inQuotes);
      return surelySet ? instead : capped([...instead, ...spreadAll([''], inQuotes)]);
    }
    const fallback = other();
    if (kind === '=' && !surelySet)
      host.set(part.parameter, distinct([...values.filter((value) => value !== ''), ...host.texts(operand, cell)]), cell);
    if (surelySet) return kept;
    return surelyEmpty ? fallback : capped([...kept, ...fallback]);
  }

  /** The word of `${x:-word}`. Bash has rules of its own for lists in it; where the usual reading may be another, it is only one of two. */
  function alternative(operand: Word, cell: Cell, inQuotes: boolean): Chunks {
    const all = host.wordChunks(operand, cell);
    const lists = all.some((chunks) => chunks.some(({ kind }) => kind === 'join'));
    if (inQuotes) {
      const read = all.map((chunks) =>
        chunks.map((chunk) => (chunk.kind === 'join' || chunk.kind === 'break' ? BREAK : quoted(chunk.text))),
      );
      return lists ? [...read, [quoted(HOLE)]] : read.map((chunks) => (chunks.length === 0 ? [quoted('')] : chunks));
    }
    // Unquoted words in it are split like the value they stand for: `${x:+-rf /}` gives two.
    const read = all.map((chunks) => chunks.map((chunk) => (chunk.kind === 'literal' ? { ...chunk, kind: 'split' as const } : chunk)));
    // What they are split by may have a backslash before it, and then isn't.
    const escaped = [...operand.text.matchAll(/\\(.)/gs)].some(([, char = '']) => maySeparate(char, cell.state));
    return escaped || (lists && firstSeparator(cell.state) !== ' ') ? [...read, [quoted(HOLE)]] : read;
  }

  return { parameter, operation };
}
