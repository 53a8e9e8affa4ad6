import { type Finder, runEnd } from './finder.ts';
import { type Form, isSecretValue, MAX_JUDGED } from './judge.ts';
import { secretClass } from './names.ts';

const MAX_NAME = 80;
const SEPARATOR = /(?:\\{0,3}["'`])?\]?[ \t]{0,16}(=>|:=|\?=|[=!]==?|:|=)[ \t]{0,16}/y;
const SEPARATOR_REACH = 48;
const OPENING = /[bfru]?(\\{0,3})(["'`])/y;

/** What belongs to a value once it is known to be one: to the quote, to the blank, to the end of a part. Never over a line end. */
const RUNS = {
  '"': /(?:[^"\\\r\n]|\\(?:[^\r\n]|$)){0,4096}/y,
  "'": /(?:[^'\\\r\n]|\\(?:[^\r\n]|$)){0,4096}/y,
  '`': /(?:[^`\\\r\n]|\\(?:[^\r\n]|$)){0,4096}/y,
  escaped: /[^"'`\\\r\n]{0,4096}/y,
  line: /[^\s]{0,4096}/y,
  part: /[^\s"'`;,&<>(){}\]|\\]{0,4096}/y,
  element: /[^<\r\n]{0,4096}/y,
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

  const place = locateValue(text, { name, begin, end, floor });
  if (place === undefined) return !final && isOpenEnd(text, end) ? 'more' : undefined;
  const { value, form, run } = place;
  if (value === text.length && !final) return 'more';
  // A key in its armour has a finder of its own, which knows where it ends.
  if (text.startsWith('-----', value)) return undefined;
  const to = runEnd(run, text, value);
  const length = to - value;
  if (!final && length <= MAX_JUDGED && text.length - to < (run === RUNS.element ? 2 : 1)) return 'more';
  // A type parameter or a placeholder in angle brackets has no closing tag.
  if (run === RUNS.element && length <= MAX_JUDGED && !text.startsWith('</', to)) return undefined;
  if (length > MAX_JUDGED || isSecretValue(text.slice(value, to), kind, form, name)) return { from: value, to, kind, run };
  return undefined;
};

interface Named {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  readonly floor: number;
}

/** Where the value of this name starts, how sure its form is, and what runs on from there; undefined: the name has no value here. */
function locateValue(text: string, named: Named): { value: number; form: Form; run: RegExp } | undefined {
  const { name, begin, end, floor } = named;
  const previous = begin > floor ? text[begin - 1] : undefined;
  if (previous === '<' && text[end] === '>') return { value: end + 1, form: 'quoted', run: RUNS.element };
  const option = /^--?[a-z]/i.test(name);
  SEPARATOR.lastIndex = end;
  const separator = SEPARATOR.exec(text);
  if (separator === null) {
    // `--password VALUE`
    if (!option || !/[ \t]/.test(text[end] ?? '') || text[end + 1] === '-') return undefined;
    return quotedAt(text, end + 1, 'bare') ?? { value: end + 1, form: 'bare', run: RUNS.part };
  }
  const value = end + separator[0].length;
  const quoted = quotedAt(text, value, 'quoted');
  if (quoted !== undefined) return quoted;
  if (/^[=!]==?$/.test(separator[1] ?? '')) return undefined; // a comparison with something that is no text
  const tight = separator[0] === '=';
  const upper = /^[A-Z][A-Z0-9_]*$/.test(name);
  if (tight && upper && startsLine(text, begin, floor)) return { value, form: 'bare', run: RUNS.line };
  const sure = tight && (option || upper || previous === '?' || previous === '&');
  return { value, form: sure ? 'bare' : 'loose', run: RUNS.part };
}

function quotedAt(text: string, at: number, form: Form): { value: number; form: Form; run: RegExp } | undefined {
  OPENING.lastIndex = at;
  const [whole, backslashes, quote] = OPENING.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const run = backslashes === '' && (quote === '"' || quote === "'" || quote === '`') ? RUNS[quote] : RUNS.escaped;
  return { value: at + whole.length, form, run };
}

/** The text ends where a separator or a value could still come. */
function isOpenEnd(text: string, end: number): boolean {
  return text.length - end < SEPARATOR_REACH && /^[\\"'`\]]*[ \t]*[=!:?+]{0,3}[ \t]*[bfru]?$/.test(text.slice(end));
}

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
