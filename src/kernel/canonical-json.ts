/** Deeper than this is a cycle or an attack, never a record. */
const MAX_DEPTH = 64;

/**
 * RFC 8785 (JSON Canonicalization Scheme): one value has exactly one spelling, so it can be hashed and signed.
 * Members are sorted by UTF-16 code units; numbers and strings are spelled as ECMAScript does, which is what the RFC asks for.
 *
 * Where the RFC leaves room or wants an error:
 * - NaN and infinities, bigint, functions, symbols, `undefined` inside an array and objects that aren't plain throw a TypeError that
 *   names the path;
 * - a member whose value is `undefined` is left out, as JSON does;
 * - a lone surrogate becomes its lower-case `\udxxx` escape, so the output is always valid UTF-8 and the same every time;
 * - `-0` becomes `0`.
 */
export function canonicalJson(value: unknown): string {
  return write(value, '$', 0);
}

function write(value: unknown, path: string, depth: number): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which has no canonical JSON form`);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new TypeError(`${path} is of type ${typeof value}, which has no canonical JSON form`);
  if (depth >= MAX_DEPTH) throw new TypeError(`${path} is nested deeper than ${MAX_DEPTH} levels, or refers to itself`);
  if (Array.isArray(value)) return writeArray(value, path, depth);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isForeignPlain(prototype)) {
    throw new TypeError(`${path} is not a plain object (${value.constructor?.name}), which has no canonical JSON form`);
  }
  const members: string[] = [];
  // Default sort compares UTF-16 code units, exactly the order of RFC 8785 section 3.2.3.
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${write(member, `${path}.${key}`, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function writeArray(value: readonly unknown[], path: string, depth: number): string {
  const items: string[] = [];
  // By index and not by `map`: a hole must throw like `undefined`, not vanish.
  for (let index = 0; index < value.length; index++) items.push(write(value[index], `${path}[${index}]`, depth + 1));
  return `[${items.join(',')}]`;
}

/** `Object.prototype` of another realm (a vm context, as test runners use): its own prototype is null too. */
function isForeignPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}
