import { type Assignment, type HereDoc, type ParameterExpansionPart, type ParsedScript, parse, type Word, type WordPart } from 'unbash';
import { ALTERNATIVES, type Meter, NotUnderstood } from '../budget.ts';
import { activate, CLOSE, HOLE, isUnknown, ONE, OPEN, SOME, STAR, type Text } from '../text.ts';
import { expandBraces } from './braces.ts';
import { held, target, transform } from './parameters.ts';
import type { Arithmetic, Cell, Expander } from './parts.ts';
import { distinct, type Frame, withEntry } from './state.ts';
import type { Stream } from './stream.ts';
import { streamText } from './stream.ts';

/** What expansion needs from whoever walks the script. */
export interface ExpansionHost {
  readonly meter: Meter;
  /** Parses text that turned up on the way; not a command: the whole is not understood. */
  read(source: string): ParsedScript;
  /** The word was judged by its expansion and not by its own tree. */
  replaced(word: Word): void;
  readonly arithmetic: Arithmetic;
  /** Runs a substitution in a copy of the shell and says what it prints. */
  substitute(script: ParsedScript | undefined, cell: Cell, part: { readonly pos: number; readonly end: number }): Stream;
  /** `<(...)` and `>(...)`: the path that stands for the pipe. */
  processPath(
    operator: '<' | '>',
    script: ParsedScript | undefined,
    cell: Cell,
    part: { readonly pos: number; readonly end: number },
  ): Text;
  /** A variable that only the environment can have filled is expanded. */
  inherited(name: string, cell: Cell, part: { readonly pos: number; readonly end: number }): void;
}

interface Chunk {
  readonly text: Text;
  /** Quoted text keeps an empty field; `split` text came out of an expansion. */
  readonly kind: 'literal' | 'quoted' | 'split' | 'break';
}

type Chunks = readonly (readonly Chunk[])[];

/** A command may be inside. */
const SUBSTITUTES = /[`(]/;
const BREAK: Chunk = { text: '', kind: 'break' };
const literal = (text: Text): Chunk => ({ text, kind: 'literal' });
const quoted = (text: Text): Chunk => ({ text, kind: 'quoted' });

export function createExpander(host: ExpansionHost, home: Text): Expander {
  const { meter } = host;

  /** Every combination, or one unknown word where there are too many. */
  function product(lists: readonly Chunks[]): Chunks {
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

  function wordChunks(word: Word, cell: Cell, assignment: boolean): Chunks {
    const { parts } = word;
    if (parts === undefined) return [[literal(tilde(word.text, word.value, cell, assignment, true))]];
    const lists = parts.map((part, index) =>
      index === 0 && part.type === 'Literal'
        ? [[literal(tilde(part.text, part.value, cell, assignment, parts.length === 1))]]
        : partChunks(part, cell, false),
    );
    return lists.length === 1 ? (lists[0] ?? [[]]) : product(lists);
  }

  /** `whole`: nothing follows in the word. A name that goes on behind an expansion or a quote is none. */
  function tilde(raw: string, value: Text, cell: Cell, assignment: boolean, whole: boolean): Text {
    if (!raw.includes('~')) return value;
    const expandOne = (text: string, index = 0, all: readonly string[] = [text]): Text => {
      const match = /^~([+-]\d*|[\w.-]*)(?=\/|:|$)/.exec(text);
      if (match === null || (match[0] === text && index === all.length - 1 && !whole)) return text;
      return folder(match[1] ?? '', cell) + text.slice(match[0].length);
    };
    if (assignment) return raw.includes('\\') ? value : value.split(':').map(expandOne).join(':');
    // With a colon and more behind it, bash decides by what that is.
    if ((!whole || raw.includes('\\')) && /^~[^/]*:/.test(raw)) return HOLE;
    if (raw[0] === '~') return expandOne(value);
    // `name=~/x` as an argument: bash expands it as in an assignment.
    const equals = /^[A-Za-z_]\w*=(?=~)/.exec(raw);
    return equals === null ? value : equals[0] + value.slice(equals[0].length).split(':').map(expandOne).join(':');
  }

  function folder(user: string, cell: Cell): Text {
    const only = (values: readonly Text[]): Text => (values.length === 1 ? (values[0] ?? HOLE) : HOLE);
    if (user === '') return only(held(cell.state, 'HOME').values);
    if (user === '+') return only(cell.state.cwd);
    if (user === '-') return only(cell.state.oldcwd);
    // A place in the stack of folders.
    if (/^[+-]?\d+$/.test(user)) return /^\+?0$/.test(user) ? only(cell.state.cwd) : HOLE;
    if (user === 'root') return '/root';
    return home.endsWith(`/${user}`) ? home : `/home/${user}`;
  }

  function partChunks(part: WordPart, cell: Cell, inQuotes: boolean): Chunks {
    switch (part.type) {
      case 'Literal':
        return [[inQuotes ? quoted(part.value) : literal(part.value)]];
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [[quoted(part.value)]];
      case 'DoubleQuoted':
      case 'LocaleString':
        return part.parts.length === 0 ? [[quoted('')]] : product(part.parts.map((child) => partChunks(child, cell, true)));
      case 'Glob':
        if (part.kind === 'bracket') return inside(part.parts, cell, [[literal(OPEN + part.value.slice(1, -1) + CLOSE)]]);
        return [[literal(part.kind === 'star' ? STAR : ONE)]];
      case 'ExtendedGlob':
        return inside(part.parts, cell, [[literal(STAR)]]);
      case 'BraceExpansion':
        // Not expanded here (an assignment, or no list at all): its substitutions are.
        return part.parts === undefined
          ? [[literal(part.text)]]
          : product([[[literal('{')]], ...part.parts.map((child) => partChunks(child, cell, inQuotes)), [[literal('}')]]]);
      case 'SimpleExpansion':
        return parameter(part.text.slice(1).replace(/\\\n/g, ''), cell, part, inQuotes);
      case 'ParameterExpansion':
        return parameterOperation(part, cell, inQuotes);
      case 'CommandExpansion':
        return [[spread(streamText(host.substitute(part.script, cell, part)), inQuotes)]];
      case 'ArithmeticExpansion':
        return [[spread(part.expression === undefined ? '0' : host.arithmetic.evaluate(part.expression, cell), inQuotes)]];
      case 'ProcessSubstitution':
        return [[quoted(host.processPath(part.operator, part.script, cell, part))]];
    }
  }

  /** A pattern may hold substitutions: they run, and then the pattern is any pattern. */
  function inside(parts: readonly WordPart[] | undefined, cell: Cell, plain: Chunks): Chunks {
    if (parts === undefined || parts.every((child) => child.type === 'Literal')) return plain;
    for (const child of parts) partChunks(child, cell, false);
    return [[literal(STAR)]];
  }

  const spread = (text: Text, inQuotes: boolean): Chunk => {
    // The word itself costs something too: arrays double as easily as strings.
    meter.fold(text.length + 8);
    return inQuotes ? quoted(text) : { text, kind: 'split' };
  };

  function parameter(name: string, cell: Cell, part: WordPart, inQuotes: boolean): Chunks {
    const found = held(cell.state, name);
    if (found.inherited) host.inherited(name, cell, part);
    if (name === '@' || name === '*') return [list(found.elements ?? [HOLE], name, inQuotes, cell)];
    return found.values.map((value) => [spread(value, inQuotes)]);
  }

  /** `$@` gives a field for each element; `"$*"` joins them. */
  function list(elements: readonly Text[], name: string, inQuotes: boolean, cell: Cell): readonly Chunk[] {
    if (inQuotes && name === '*') return [quoted(elements.join((held(cell.state, 'IFS').values[0] ?? ' ')[0] ?? ''))];
    return elements.flatMap((element, index) => (index === 0 ? [spread(element, inQuotes)] : [BREAK, spread(element, inQuotes)]));
  }

  function parameterOperation(part: ParameterExpansionPart, cell: Cell, inQuotes: boolean): Chunks {
    const { operation, prefix } = part;
    const found = base(part, cell);
    if (prefix === '#') return [[quoted(SOME)]];
    if (found.inherited && !(operation?.type === 'Default' && operation.operator.endsWith('+'))) host.inherited(part.parameter, cell, part);
    if (operation === undefined) {
      if (found.every !== undefined) return [list(found.every, found.star ? '*' : '@', inQuotes, cell)];
      return found.values.map((value) => [spread(value, inQuotes)]);
    }
    if (operation.type === 'Default') return defaults(part, found, cell, inQuotes);
    // The parser cuts a replacement at the first slash, even inside a substitution: such a text is judged as a whole instead.
    if ((operation.type === 'Replace' || operation.type === 'Unknown') && /\$\(|`|\$\{|[<>]\(/.test(part.text.slice(2))) {
      const from = part.text.indexOf(operation.operator, 2) + operation.operator.length;
      reread(part.text.slice(from, -1), cell);
      return [[spread(HOLE, inQuotes)]];
    }
    if (operation.type === 'Names' || operation.type === 'Unknown') return [[spread(HOLE, inQuotes)]];
    const operand = (word: Word | undefined): Text => {
      if (word === undefined) return '';
      const all = texts(word, cell);
      return all.length === 1 ? (all[0] ?? '') : HOLE;
    };
    if (operation.type === 'Transform' && operand(operation.operand) === 'P') for (const value of found.values) lurking(value, cell);
    const [first, second] =
      operation.type === 'Replace'
        ? [operand(operation.pattern), operand(operation.replacement)]
        : operation.type === 'Slice'
          ? [operand(operation.offset), operation.length === undefined ? undefined : operand(operation.length)]
          : [operand(operation.operand), undefined];
    if (found.every !== undefined) {
      if (operation.type === 'Slice') {
        const from = Number(first);
        const count = second === undefined ? undefined : Number(second);
        const base = part.parameter === '@' || part.parameter === '*' ? from - 1 : from;
        if (!Number.isInteger(base) || base < 0 || (count !== undefined && !(Number.isInteger(count) && count >= 0)))
          return [[spread(HOLE, inQuotes)]];
        const end = count === undefined ? found.every.length : base + count;
        // An open element may have been several words or none: then the places behind it aren't known.
        if (found.every.slice(0, end).some(isUnknown)) return [[spread(HOLE, inQuotes)]];
        return [list(found.every.slice(base, end), found.star ? '*' : '@', inQuotes, cell)];
      }
      return [
        list(
          found.every.map((value) => transform(value, operation, first, second)),
          found.star ? '*' : '@',
          inQuotes,
          cell,
        ),
      ];
    }
    return distinct(found.values.map((value) => transform(value, operation, first, second))).map((value) => [spread(value, inQuotes)]);
  }

  interface Base {
    readonly values: readonly Text[];
    readonly every?: readonly Text[];
    readonly star?: boolean;
    readonly inherited?: true;
  }

  /** The parameter before its operation: indirection and subscript applied. */
  function base(part: ParameterExpansionPart, cell: Cell): Base {
    const name = part.parameter;
    if (part.prefix === '!' && part.operation?.type !== 'Names') {
      if (part.index !== undefined) return { values: [HOLE] };
      const names = held(cell.state, name).values;
      const all = names.flatMap((indirect) => {
        lurking(indirect, cell);
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
    const indexes = texts(part.index, cell);
    const picked = indexes.flatMap((index) => {
      lurking(index, cell);
      const value = host.arithmetic.number(index, cell);
      if (value === undefined) return found.inherited ? [HOLE] : [...elements];
      // An open element may have been several words or none: what stands at a place behind it isn't known.
      const passed = value < 0 ? elements : elements.slice(0, value + 1);
      return [passed.some(isUnknown) ? HOLE : (elements.at(value) ?? '')];
    });
    return { values: distinct(picked), ...(found.inherited ? { inherited: true as const } : {}) };
  }

  function defaults(part: ParameterExpansionPart, found: Base, cell: Cell, inQuotes: boolean): Chunks {
    const operation = part.operation;
    if (operation?.type !== 'Default') return [[]];
    const { operator, operand } = operation;
    const values = found.every !== undefined ? [found.every.join(' ')] : found.values;
    const surelySet = values.every((value) => value !== '' && !isUnknown(value));
    // Without a colon an empty variable counts as set; which of the empty ones are set isn't kept.
    const perhapsSet = operator.length === 1 && values.includes('');
    const surelyEmpty = !perhapsSet && values.every((value) => value === '');
    const kept: Chunks = values.filter((value) => value !== '' || perhapsSet).map((value) => [spread(value, inQuotes)]);
    const kind = operator.at(-1);
    if (kind === '?') {
      texts(operand, cell);
      return kept.length === 0 ? [[spread('', inQuotes)]] : kept;
    }
    const other = (): Chunks => {
      if (inQuotes) return texts(operand, cell).map((text) => [quoted(text)]);
      // Unquoted words in it are split like the value they stand for: `${x:+-rf /}` gives two.
      const all = wordChunks(operand, cell, false);
      // What they are split by may have a backslash before it, and then isn't.
      if (/\\\s/.test(operand.text)) return [[quoted(HOLE)]];
      return all.map((chunks) => chunks.map((chunk) => (chunk.kind === 'literal' ? { ...chunk, kind: 'split' as const } : chunk)));
    };
    if (kind === '+') {
      // Expanded in any case: a substitution in it is there to be judged.
      const alternative = other();
      if (surelyEmpty) return [[spread('', inQuotes)]];
      return surelySet ? alternative : capped([...alternative, [spread('', inQuotes)]]);
    }
    const fallback = other();
    if (kind === '=' && !surelySet)
      set(part.parameter, distinct([...values.filter((value) => value !== ''), ...texts(operand, cell)]), cell);
    if (surelySet) return kept;
    return surelyEmpty ? fallback : capped([...kept, ...fallback]);
  }

  const capped = (chunks: Chunks): Chunks => (chunks.length > ALTERNATIVES ? [[quoted(HOLE)]] : chunks);

  function assemble(chunks: readonly Chunk[], ifs: string): readonly Text[] {
    const done: Text[] = [];
    let current = '';
    let open = false;
    const close = (): void => {
      if (open) done.push(current);
      current = '';
      open = false;
    };
    for (const chunk of chunks) {
      if (chunk.kind === 'break') close();
      else if (chunk.kind === 'quoted') {
        current += chunk.text;
        open = true;
      } else if (chunk.kind === 'literal') {
        current += chunk.text;
        open ||= chunk.text !== '';
      } else {
        for (const char of chunk.text) {
          if (!ifs.includes(char)) {
            current += activate(char);
            open = true;
          } else if (char === ' ' || char === '\t' || char === '\n') close();
          else {
            open = true;
            close();
          }
        }
      }
    }
    close();
    return done;
  }

  function fields(word: Word, cell: Cell): readonly (readonly Text[])[] {
    if (word.parts?.some((part) => part.type === 'BraceExpansion')) return braceFields(word, cell);
    return split(wordChunks(word, cell, false), cell);
  }

  function split(all: Chunks, cell: Cell): readonly (readonly Text[])[] {
    if (all.length === 1 && all[0]?.length === 1 && all[0][0]?.kind !== 'split' && all[0][0]?.kind !== 'break') {
      const only = all[0][0];
      if (only !== undefined && (only.text !== '' || only.kind === 'quoted')) return [[only.text]];
    }
    const ifs = held(cell.state, 'IFS').values.join('');
    return all.map((chunks) => assemble(chunks, ifs));
  }

  function braceFields(word: Word, cell: Cell): readonly (readonly Text[])[] {
    host.replaced(word);
    // Line continuations are gone before bash looks for braces.
    const raws = expandBraces(word.text.includes("'") ? word.text : word.text.replaceAll('\\\n', ''));
    const unread = (): void => {
      if (SUBSTITUTES.test(word.text)) throw new NotUnderstood('braces that cannot be written out hold a command', word.pos);
    };
    if (raws === undefined) {
      unread();
      return [[HOLE]];
    }
    let tooMany = false;
    let all: (readonly Text[])[] = [[]];
    for (const raw of raws) {
      meter.chars(raw.length);
      const script = parse(`: ${raw}`);
      const command = script.commands[0]?.command;
      const only = command?.type === 'Command' && script.errors === undefined && script.commands.length === 1 ? command.args : undefined;
      const first = only?.[0];
      if (only?.length === 0) continue;
      const options =
        first?.type === 'Word' && only?.length === 1
          ? split(
              wordChunks(
                first,
                {
                  get state() {
                    return cell.state;
                  },
                  set state(next) {
                    cell.state = next;
                  },
                  frame: { source: word.text, span: cell.frame.span ?? [word.pos, word.end] },
                },
                false,
              ),
              cell,
            )
          : [[first?.type === 'Assignment' && only?.length === 1 ? first.text : HOLE]];
      if (first?.type !== 'Word' || only?.length !== 1) unread();
      // All of them are gone through, since each may hold a command, even if it isn't told apart what they give.
      tooMany ||= all.length * options.length > ALTERNATIVES;
      if (!tooMany) all = all.flatMap((before) => options.map((more) => [...before, ...more]));
    }
    return tooMany ? [[HOLE]] : all;
  }

  function texts(word: Word, cell: Cell, assignment = false): readonly Text[] {
    const all = wordChunks(word, cell, assignment);
    return distinct(all.map((chunks) => chunks.map((chunk) => (chunk.kind === 'break' ? ' ' : chunk.text)).join('')));
  }

  function hereDoc(doc: HereDoc, cell: Cell): Text {
    const { body, delimiter } = doc;
    if (delimiter?.quoted || body.parts === undefined) return body.text;
    const all = product(body.parts.map((part) => partChunks(part, cell, true)));
    return all.length === 1 ? (all[0] ?? []).map((chunk) => chunk.text).join('') : HOLE;
  }

  function lurking(text: Text, cell: Cell): void {
    if (!/\$\(|`|<\(|\$\{/.test(text)) return;
    const script = host.read(`: "${text.replace(/["\\]/g, '\\$&')}"`);
    const command = script.commands[0]?.command;
    const word = command?.type === 'Command' ? command.args[0] : undefined;
    if (word?.type === 'Word') texts(word, cell);
  }

  /** Source text of an operand, parsed once more where any text may stand. */
  function reread(source: string, cell: Cell): void {
    const script = host.read(`: \${x:-${source}}`);
    const command = script.commands[0]?.command;
    const word = command?.type === 'Command' ? command.args[0] : undefined;
    const frame: Frame = { source, span: cell.frame.span ?? [0, 0] };
    const inside: Cell = {
      frame,
      get state() {
        return cell.state;
      },
      set state(next) {
        cell.state = next;
      },
    };
    if (word?.type === 'Word') texts(word, inside);
  }

  function set(name: string, values: readonly Text[], cell: Cell): void {
    const real = target(cell.state, name);
    cell.state = { ...cell.state, vars: withEntry(cell.state.vars, real, { values }) };
  }

  function assign(assignment: Assignment, cell: Cell): void {
    const { name, value, append, index } = assignment;
    const before = append ? held(cell.state, name) : undefined;
    if (index !== undefined) for (const text of texts(index, cell)) lurking(text, cell);
    if (value.type === 'ArrayValue') {
      const added = value.elements.flatMap((element) => {
        const all = fields(element, cell);
        return all.length === 1 ? (all[0] ?? []) : [HOLE];
      });
      const elements = [...(before?.elements ?? (before && !before.inherited ? before.values : [])), ...added];
      const real = target(cell.state, name);
      cell.state = { ...cell.state, vars: withEntry(cell.state.vars, real, { values: [elements[0] ?? ''], elements }) };
      return;
    }
    const values = texts(value, cell, true).map((text) => text.replace(/[\uFDD4-\uFDD7]/g, unglob));
    if (index !== undefined) {
      const known = held(cell.state, name);
      const at = host.arithmetic.number(texts(index, cell)[0] ?? '', cell);
      const elements = [...(known.elements ?? (known.inherited ? [] : known.values))];
      const real = target(cell.state, name);
      if (at === undefined || at < 0 || at > 1024 || values.length !== 1) {
        cell.state = {
          ...cell.state,
          vars: withEntry(cell.state.vars, real, { values: [HOLE], elements: elements.map(() => HOLE).concat(HOLE) }),
        };
        return;
      }
      while (elements.length <= at) elements.push('');
      elements[at] = values[0] ?? '';
      cell.state = { ...cell.state, vars: withEntry(cell.state.vars, real, { values: [elements[0] ?? ''], elements }) };
      return;
    }
    if (before === undefined) set(name, values, cell);
    else set(name, distinct(before.values.flatMap((head) => values.map((tail) => head + tail))), cell);
  }

  return { fields, texts, hereDoc, lurking, assign, set };
}

/** An assignment doesn't glob: the characters are stored, and become active where the value is used unquoted. */
const unglob = (mark: string): string => ({ [STAR]: '*', [ONE]: '?', [OPEN]: '[', [CLOSE]: ']' })[mark] ?? mark;
