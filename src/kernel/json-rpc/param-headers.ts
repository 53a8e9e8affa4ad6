import { isObject, type Members } from './message.ts';

/**
 * Arguments of a tool that HTTP headers repeat (2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters"), so that
 * whoever stands in between can route by them.
 */

/** One argument, and `NAME` of the header `Mcp-Param-NAME` that repeats it. */
export interface ParamHeader {
  readonly name: string;
  /** The members that lead to it from the arguments. */
  readonly path: readonly string[];
}

export const PARAM_PREFIX = 'Mcp-Param-';
/** A header doesn't say what the body says. */
export const HEADER_MISMATCH = -32020;

const BEFORE = '=?base64?';
const BEHIND = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What a client sends along with a call. */
export function paramHeadersOf(declared: readonly ParamHeader[], args: unknown): Record<string, string> {
  return Object.fromEntries(
    declared.flatMap(({ name, path }) => {
      const text = textOf(valueAt(args, path));
      return text === undefined ? [] : [[`${PARAM_PREFIX}${name}`, encodeHeader(text)]];
    }),
  );
}

export interface WrongHeader {
  readonly header: string;
  /** As it was sent; absent: it is missing. */
  readonly given?: string;
  /** What the body says. */
  readonly body: string;
}

/** The first header that isn't what the arguments say. `headerOf`: by its name in lower case. */
export function wrongParamHeader(
  declared: readonly ParamHeader[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
): WrongHeader | undefined {
  for (const { name, path } of declared) {
    const header = `${PARAM_PREFIX}${name}`;
    const given = headerOf(header.toLowerCase());
    const value = valueAt(args, path);
    const text = textOf(value);
    if (given === undefined && text === undefined) continue;
    if (given === undefined) return { header, body: text ?? '' };
    if (text === undefined || !says(decodeHeader(given), value, text)) return { header, given, body: text ?? 'nothing' };
  }
  return undefined;
}

/** A text as the value of a header: what wouldn't arrive as it is goes as `=?base64?...?=`. */
export function encodeHeader(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !(text.startsWith(BEFORE) && text.endsWith(BEHIND));
  return plain ? text : `${BEFORE}${Buffer.from(text, 'utf8').toString('base64')}${BEHIND}`;
}

/** Undefined: that is no value of a header. */
export function decodeHeader(header: string): string | undefined {
  if (!/^[\x20-\x7e\t]*$/.test(header)) return undefined;
  if (!header.startsWith(BEFORE) || !header.endsWith(BEHIND)) return header;
  const base64 = header.slice(BEFORE.length, -BEHIND.length);
  return BASE64.test(base64) ? Buffer.from(base64, 'base64').toString('utf8') : undefined;
}

/** Only what is there itself: a path may be called `constructor`. */
function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const part of path) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = (value as Members)[part];
  }
  return value;
}

/** Undefined: no header says this. Numbers that two readers could read differently are none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** Numbers are compared as numbers: `42.0` is 42. */
function says(header: string | undefined, value: unknown, text: string): boolean {
  if (header === text) return true;
  return typeof value === 'number' && header !== undefined && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(header) && Number(header) === value;
}
