import { type Assignment, type Command, type ParsedScript, parse, type Word, type WordPart } from 'unbash';
import { ALTERNATIVES, type Meter, NotUnderstood } from '../budget.ts';
import { CLOSE, HOLE, ONE, OPEN, STAR, type Text } from '../text.ts';
import { createAssign, setVariable } from './assign.ts';
import { expandBraces } from './braces.ts';
import { type Chunks, joined, literal, product, quoted, spread } from './chunks.ts';
import { joinLines } from './continued.ts';
import { createOperations } from './operations.ts';
import type { Arithmetic, Cell, Expander } from './parts.ts';
import { splitWord } from './split.ts';
import { distinct } from './state.ts';
import type { Stream } from './stream.ts';
import { streamText } from './stream.ts';
import { expandTilde, type TildePlace } from './tilde.ts';

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

/** A command may be inside. */
const SUBSTITUTES = /[`(]/;

export function createExpander(host: ExpansionHost, home: Text): Expander {
  const { meter } = host;

  function wordChunks(word: Word, cell: Cell, place: TildePlace): Chunks {
    const { parts } = word;
    if (parts === undefined) return [[literal(expandTilde(word.text, word.value, cell.state, home, { place, whole: true }))]];
    const whole = parts.length === 1;
    const lists = parts.map((part, index) => {
      if (index === 0 && part.type === 'Literal')
        return [[literal(expandTilde(part.text, part.value, cell.state, home, { place, whole }))]];
      const all = partChunks(part, cell, false);
      return part.type === 'CommandExpansion' && !whole && place !== 'assignment' ? lessNothing(all) : all;
    });
    return whole ? (lists[0] ?? [[]]) : product(lists);
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
          ? [[literal(part.text.replace(/\\(.)/gs, (_, char: string) => (char === '\n' ? '' : char)))]]
          : product([[[literal('{')]], ...part.parts.map((child) => partChunks(child, cell, inQuotes)), [[literal('}')]]]);
      case 'SimpleExpansion':
        return operations.parameter(part.text.slice(1).replace(/\\\n/g, ''), cell, part, inQuotes);
      case 'ParameterExpansion':
        return operations.operation(part, cell, inQuotes);
      case 'CommandExpansion':
        return [[spread(streamText(host.substitute(part.script, cell, part)), inQuotes, meter)]];
      case 'ArithmeticExpansion':
        return [[spread(part.expression === undefined ? '0' : host.arithmetic.evaluate(part.expression, cell), inQuotes, meter)]];
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

  const operations = createOperations({
    meter,
    arithmetic: host.arithmetic,
    inherited: (name, cell, part) => host.inherited(name, cell, part),
    wordChunks: (word, cell) => wordChunks(word, cell, 'word'),
    texts,
    lurking,
    reread: (source, cell) => {
      const word = firstArgument(host.read(`: \${x:-${source}}`));
      if (word?.type === 'Word') texts(word, elsewhere(cell, source, cell.frame.span ?? [0, 0]));
    },
    set: setVariable,
  });

  function fields(word: Word, cell: Cell): readonly (readonly Text[])[] {
    return (mayHoldBraces(word) ? braceFields(word, cell) : undefined) ?? splitWord(wordChunks(word, cell, 'word'), cell.state);
  }

  /** The words that braces give. Undefined: there are none that mean something. */
  function braceFields(word: Word, cell: Cell): readonly (readonly Text[])[] | undefined {
    const source = joinLines(word.text);
    const raws = expandBraces(source);
    if (raws?.length === 1 && raws[0] === source) return undefined;
    host.replaced(word);
    const unread = (): void => {
      if (SUBSTITUTES.test(word.text)) throw new NotUnderstood('braces that cannot be written out hold a command', word.pos);
    };
    if (raws === undefined) {
      unread();
      return [[HOLE]];
    }
    const inner = elsewhere(cell, word.text, cell.frame.span ?? [word.pos, word.end]);
    let tooMany = false;
    let all: (readonly Text[])[] = [[]];
    for (const raw of raws) {
      if (raw === '') continue;
      meter.chars(raw.length);
      // What comes out of braces is no comment.
      const script = parse(`: ${raw[0] === '#' ? '\\' : ''}${raw}`);
      const only = script.errors === undefined ? onlyArgument(script) : undefined;
      if (only?.type !== 'Word') unread();
      const options =
        only?.type === 'Word'
          ? splitWord(wordChunks(only, inner, 'braces'), inner.state)
          : [[only?.type === 'Assignment' ? only.text : HOLE]];
      // All of them are gone through, since each may hold a command, even if it isn't told apart what they give.
      tooMany ||= all.length * options.length > ALTERNATIVES;
      if (!tooMany) all = all.flatMap((before) => options.map((more) => [...before, ...more]));
    }
    return tooMany ? [[HOLE]] : all;
  }

  /** `declare x={a,b}` is `declare x=a x=b`, where a plain assignment keeps its braces. */
  function declared(assignment: Assignment, cell: Cell): void {
    const { value, text, pos, end } = assignment;
    const source = joinLines(text);
    const raws = value.type === 'Word' && mayHoldBraces(value) ? expandBraces(source) : [source];
    if (value.type !== 'Word' || (raws?.length === 1 && raws[0] === source)) {
      assign(assignment, cell);
      return;
    }
    host.replaced(value);
    meter.chars(raws?.reduce((sum, raw) => sum + raw.length, 0) ?? 0);
    const script = raws === undefined ? undefined : parse(`declare ${raws.join(' ')}`);
    const command = script?.errors === undefined ? script?.commands[0]?.command : undefined;
    if (command?.type !== 'Command') throw new NotUnderstood('a variable is declared with braces that cannot be written out', pos);
    const inside = elsewhere(cell, text, cell.frame.span ?? [pos, end]);
    for (const each of command.args) if (each.type === 'Assignment') assign(each, inside);
  }

  function texts(word: Word, cell: Cell, place: TildePlace = 'word'): readonly Text[] {
    return distinct(wordChunks(word, cell, place).map(joined));
  }

  function lurking(text: Text, cell: Cell): void {
    if (!/\$\(|`|<\(|\$\{/.test(text)) return;
    const word = firstArgument(host.read(`: "${text.replace(/["\\]/g, '\\$&')}"`));
    if (word?.type === 'Word') texts(word, cell);
  }

  const assign = createAssign({ arithmetic: host.arithmetic, fields, texts, lurking });

  return {
    fields,
    texts,
    file: (word, cell) => distinct(fields(word, cell).map((each) => each.join(' '))),
    hereDoc: ({ body, delimiter }, cell) => {
      if (delimiter?.quoted || body.parts === undefined) return body.text;
      const all = product(body.parts.map((part) => partChunks(part, cell, true)));
      return all.length === 1 ? joined(all[0] ?? []) : HOLE;
    },
    lurking,
    assign,
    declared,
    set: setVariable,
  };
}

/** `echo a $x` prints no blank for an $x that is nothing: where more of the word follows or came before, that makes a difference. */
function lessNothing(all: Chunks): Chunks {
  return all.flatMap((chunks) => {
    const only = chunks.length === 1 ? chunks[0] : undefined;
    if (only?.kind !== 'split') return [chunks];
    const { text } = only;
    let [start, end] = [0, text.length];
    while (text.startsWith(`${HOLE} `, start)) start += 2;
    while (end > start && text.endsWith(` ${HOLE}`, end)) end -= 2;
    const ways = [text, text.slice(start), text.slice(0, end), text.slice(start, end)];
    return distinct(ways).map((way) => [{ ...only, text: way }]);
  });
}

/** Bash looks for braces with an idea of quotes of its own, in which backticks in quotes end them. */
function mayHoldBraces({ text, parts }: Word): boolean {
  const body = text.slice(text.indexOf('{'), text.lastIndexOf('}'));
  if (body[0] !== '{' || !/,|\.[.\\]/.test(body)) return false;
  return (
    parts === undefined ||
    parts.some((part) => {
      if (part.type === 'DoubleQuoted') return part.text.includes('`') && /[{}]/.test(part.text);
      return part.type === 'BraceExpansion' || (part.type === 'Literal' && /[{}]/.test(part.text));
    })
  );
}

/** The text that is expanded stands somewhere else; the state is the same one. */
function elsewhere(cell: Cell, source: string, span: readonly [start: number, end: number]): Cell {
  return {
    frame: { source, span },
    get state() {
      return cell.state;
    },
    set state(next) {
      cell.state = next;
    },
  };
}

function firstArgument(script: ParsedScript): ReturnType<typeof onlyArgument> {
  const command = script.commands[0]?.command;
  return command?.type === 'Command' ? command.args[0] : undefined;
}

function onlyArgument(script: ParsedScript): Command['args'][number] | undefined {
  const command = script.commands[0]?.command;
  return command?.type === 'Command' && script.commands.length === 1 && command.args.length === 1 ? command.args[0] : undefined;
}
