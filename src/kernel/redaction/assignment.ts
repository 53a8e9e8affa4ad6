import type { Finder } from './finder.ts';
import { type Form, isSecretValue, MAX_JUDGED } from './judge.ts';
import { secretClass } from './names.ts';

const MAX_NAME = 80;
const SEPARATOR = /(?:\\{0,3}["'`])?\]?[ \t]{0,16}(=>|:=|\?=|[=!]==?|:|=)[ \t]{0,16}/y;
const SEPARATOR_REACH = 48;
const OPENING = /[bfru]?(\\{0,3})(["'`])/y;

/** What belongs to a value once it is known to be one: to the quote, to the blank, to the end of a part. Never over a line end. */
const RUNS = {
  '"': /(?:[^"\\\r\n]|\\(?:[^\r\n]|$))*/y,
  "'": /(?:[^'\\\r\n]|\\(?:[^\r\n]|$))*/y,
  '`': /(?:[^`\\\r\n]|\\(?:[^\r\n]|$))*/y,
  escaped: /[^"'`\\\r\n]*/y,
  line: /[^\s]*/y,
  part: /[^\s"'`;,&<>(){}\]|\\]*/y,
  element: /[^<\r\n]*/y,
} as const;

/**
 * `name separator value` in every form it comes in: .env, shell, options, JSON, YAML, ini, XML, query, code. Found at any word of
 * the name that sounds secret; the whole name and then the value decide.
 */
export const findAssignment: Finder = (text, at, { floor, final }) => {
  let begin = at;
  while (begin > floor && at - begin < MAX_NAME && isName(text.charCodeAt(begin - 1))) begin--;
  let end = at;
  while (end < text.length && end - at < MAX_NAME && isName(text.charCodeAt(end))) end++;
  if (end === text.length && !final) return end - at < MAX_NAME ? 'more' : undefined;
  if (at - begin === MAX_NAME || end - at === MAX_NAME) return undefined;
  const name = text.slice(begin, end);
  const kind = secretClass(name);
  if (kind === undefined) return undefined;

  const previous = begin > floor ? text[begin - 1] : undefined;
  const option = /^--?[a-z]/i.test(name);
  let value: number;
  let form: Form;
  let run: RegExp;
  SEPARATOR.lastIndex = end;
  const separator = SEPARATOR.exec(text);
  if (previous === '<' && text[end] === '>') {
    value = end + 1;
    form = 'quoted';
    run = RUNS.element;
  } else if (separator !== null) {
    value = end + separator[0].length;
    if (value === text.length && !final) return 'more';
    const equals = separator[0] === '=';
    const comparison = (separator[1]?.length ?? 0) > 1 && separator[1]?.endsWith('==');
    OPENING.lastIndex = value;
    const opening = OPENING.exec(text);
    if (opening !== null) {
      value += opening[0].length;
      form = 'quoted';
      run = opening[1] === '' ? RUNS[(opening[2] ?? '"') as '"' | "'" | '`'] : RUNS.escaped;
    } else if (comparison) return undefined;
    else if (equals && startsLine(text, begin, floor) && /^[A-Z][A-Z0-9_]*$/.test(name)) {
      form = 'bare';
      run = RUNS.line;
    } else {
      const query = equals && (previous === '?' || previous === '&');
      form = equals && (option || query || /^[A-Z][A-Z0-9_]*$/.test(name)) ? 'bare' : 'loose';
      run = RUNS.part;
    }
  } else if (option && /[ \t]/.test(text[end] ?? '') && text[end + 1] !== '-') {
    value = end + 1;
    form = 'bare';
    run = RUNS.part;
    OPENING.lastIndex = value;
    const opening = OPENING.exec(text);
    if (opening !== null) {
      value += opening[0].length;
      run = RUNS[(opening[2] ?? '"') as '"' | "'" | '`'];
    }
  } else return !final && text.length - end < SEPARATOR_REACH && /^[\\"'`\]]*[ \t]*$/.test(text.slice(end)) ? 'more' : undefined;

  // A key in its armour has a finder of its own, which knows where it ends.
  if (text.startsWith('-----', value)) return undefined;
  run.lastIndex = value;
  run.exec(text);
  const to = Math.max(run.lastIndex, value);
  const length = to - value;
  // A type parameter or a placeholder in angle brackets has no closing tag.
  if (run === RUNS.element && length <= MAX_JUDGED && !text.startsWith('</', to) && (final || text.length - to > 1)) return undefined;
  if (to === text.length && !final && length <= MAX_JUDGED) return 'more';
  if (length > MAX_JUDGED || isSecretValue(text.slice(value, to), kind, form, name)) return { from: value, to, kind, run };
  return undefined;
};

/** `NAME=` or `export NAME=` at the start of a line: there the value goes to the next blank, whatever it holds. */
function startsLine(text: string, begin: number, floor: number): boolean {
  const before = text.slice(Math.max(floor, begin - 24), begin);
  return /(?:^|\n)[ \t]*(?:export |set |ENV |ARG )?[ \t]*$/.test(begin <= 24 && floor === 0 ? before : `x${before}`);
}

function isName(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46
  );
}
