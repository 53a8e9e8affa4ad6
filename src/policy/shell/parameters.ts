import type { ParameterOperation } from 'unbash';
import { compileGlob } from '../glob.ts';
import { DEEP, FOREIGN, HOLE, isForeign, isKnown, isUnknown, SOME, type Text } from '../text.ts';
import type { State, Variable } from './state.ts';

/** Names the shell itself fills with a plain word. */
const PLAIN = new Set(
  '# ? $ ! - 0 RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS EPOCHREALTIME SHLVL USER LOGNAME HOSTNAME HOSTTYPE OSTYPE COLUMNS LINES OPTIND'.split(
    ' ',
  ),
);

/** What a name holds. `set`: it can't be unset or empty for all we know; `unset`: it can't be anything but unset. */
export interface Held {
  readonly values: readonly Text[];
  readonly elements?: readonly Text[];
  /** Nothing in the command gave it a value: it comes from the environment, if at all. */
  readonly inherited?: true;
}

const followed = (vars: ReadonlyMap<string, Variable>, name: string): string => {
  let at = name;
  for (let i = 0; i < 8; i++) {
    const ref = vars.get(at)?.ref;
    if (ref === undefined) return at;
    at = ref;
  }
  return at;
};

/** The variable a name really stands for, through `declare -n`. */
export const target = (state: State, name: string): string => followed(state.vars, name);

/** An open argument may have been several words or none: what stands at a place behind it isn't known. */
function argument(args: readonly Text[] | undefined, place: number): Text {
  return args === undefined || args.slice(0, place).some(isUnknown) ? HOLE : (args[place - 1] ?? '');
}

export function held(state: State, asked: string): Held {
  const name = followed(state.vars, asked);
  const variable = state.vars.get(name);
  if (variable !== undefined) {
    return variable.elements === undefined ? { values: variable.values } : { values: variable.values, elements: variable.elements };
  }
  if (/^[1-9]\d*$/.test(name)) return { values: [argument(state.args, Number(name))] };
  if (name === '@' || name === '*') {
    return state.args === undefined ? { values: [HOLE], elements: [HOLE] } : { values: [state.args.join(' ')], elements: state.args };
  }
  if (name === 'PWD') return { values: state.cwd };
  if (name === 'OLDPWD') return { values: state.oldcwd };
  // The shell that runs this, and the one the person uses: shells, whatever their path.
  if (name === 'BASH' || name === 'SHELL') return { values: ['/bin/bash', HOLE] };
  if (PLAIN.has(name)) return { values: [SOME] };
  return { values: [HOLE], inherited: true };
}

const opaque = (value: Text): Text => (isForeign(value) ? FOREIGN : HOLE);

/** `#`, `%`, `/`, `^`, `,`, `:` and `@` on one value whose operands are decoded already: everything it may give. */
export function transform(value: Text, operation: ParameterOperation, first: Text, second: Text | undefined): readonly Text[] {
  if (!isKnown(value)) return [value === '' ? '' : opaque(value)];
  switch (operation.type) {
    case 'Remove':
      return [isUnknown(first) ? HOLE : remove(value, operation.operator, first)];
    case 'Replace': {
      if (isUnknown(first) || (second !== undefined && isUnknown(second))) return [HOLE];
      const plain = replace(value, operation.operator, first, second ?? '');
      if (second === undefined || !/[&\\]/.test(second)) return [plain];
      // From bash 5.2 on `&` is what was found and a backslash takes that back, where neither was quoted.
      return [
        plain,
        replace(
          value,
          operation.operator,
          first,
          second.replaceAll('&', () => first),
        ),
        HOLE,
      ];
    }
    case 'CaseModification':
      return [first === '' ? changeCase(value, operation.operator) : HOLE];
    case 'Slice':
      return [slice(value, first, second)];
    case 'Transform':
      if (first === 'U') return [value.toUpperCase()];
      if (first === 'L') return [value.toLowerCase()];
      if (first === 'u') return [changeCase(value, '^')];
      return [HOLE];
    default:
      return [HOLE];
  }
}

const OPEN_PATTERN = new RegExp(`[${HOLE}${FOREIGN}${SOME}${DEEP}*?[\\\\]`);
const ASTRAL = /[\ud800-\udfff]/;
/** Looks at one character that one removal may cost. */
const REMOVAL = 1_000_000;

/** The shortest or longest beginning or end that the pattern matches is taken away. */
function remove(value: Text, operator: '#' | '##' | '%' | '%%', pattern: Text): Text {
  // What the pattern may be isn't what it is, a plain star may be one that was expanded and so a pattern; and bash counts characters where
  // strings here count halves of some.
  if (OPEN_PATTERN.test(pattern) || ASTRAL.test(value)) return HOLE;
  const glob = compileGlob(pattern, true);
  if (glob.cost(value.length) > REMOVAL) return HOLE;
  const front = operator[0] === '#';
  const lengths = front ? glob.beginnings(value) : glob.ends(value);
  const length = lengths.at(operator.length === 1 ? 0 : -1) ?? 0;
  return front ? value.slice(length) : value.slice(0, value.length - length);
}

function replace(value: Text, operator: '/' | '//' | '/#' | '/%', pattern: Text, replacement: Text): Text {
  if (value.length > 65_536) return HOLE;
  // Nothing is found nowhere, but at the front and at the end it is.
  if (pattern === '' && (operator === '/' || operator === '//')) return value;
  // Wildcards in a replaced pattern are rare and slow; only plain patterns are folded.
  if (!isKnown(pattern) || OPEN_PATTERN.test(pattern)) return HOLE;
  switch (operator) {
    case '/':
      return value.replace(pattern, () => replacement);
    case '//':
      return value.replaceAll(pattern, () => replacement);
    case '/#':
      return value.startsWith(pattern) ? replacement + value.slice(pattern.length) : value;
    case '/%':
      return value.endsWith(pattern) ? value.slice(0, value.length - pattern.length) + replacement : value;
  }
}

function changeCase(value: Text, operator: '^' | '^^' | ',' | ',,'): Text {
  if (operator === '^^') return value.toUpperCase();
  if (operator === ',,') return value.toLowerCase();
  const head = value.slice(0, 1);
  return (operator === '^' ? head.toUpperCase() : head.toLowerCase()) + value.slice(1);
}

function slice(value: Text, offset: Text, length: Text | undefined): Text {
  if (ASTRAL.test(value)) return HOLE;
  const from = /^\s*-?\d+\s*$/.test(offset) ? Number(offset) : undefined;
  const count = length === undefined ? value.length : /^\s*-?\d+\s*$/.test(length) ? Number(length) : undefined;
  if (from === undefined || count === undefined) return HOLE;
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  // An end before the start is an error, and the command isn't run.
  if (count < 0 && value.length + count < start) return HOLE;
  return count < 0 ? value.slice(start, count) : value.slice(start, start + count);
}
