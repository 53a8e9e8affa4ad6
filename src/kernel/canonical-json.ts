/** Deeper than this is a cycle or an attack, never a record. */
const MAX_DEPTH = 64;

type Path = (string | number)[];

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
  return isInOrder(value, 0) ? JSON.stringify(value) : write(value, []);
}

/** Whether JSON.stringify, which is four times as fast, would spell it the same: what is recorded for each call is built that way. */
function isInOrder(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isInOrder(value[index], depth + 1)) return false;
    return true;
  }
  if (!isPlain(value)) return false;
  let before = '';
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (key < before || !(member === undefined || isInOrder(member, depth + 1))) return false;
    before = key;
  }
  return true;
}

/** `path` is where the value stands; it is only read when something is wrong. */
function write(value: unknown, path: Path): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (Number.isFinite(value)) return value === 0 ? '0' : String(value);
      throw new TypeError(`${shown(path)} is ${value}, which has no canonical JSON form`);
    case 'object':
      if (value === null) return 'null';
      if (path.length >= MAX_DEPTH) throw new TypeError(`${shown(path)} is nested deeper than ${MAX_DEPTH} levels, or refers to itself`);
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
    default:
      throw new TypeError(`${shown(path)} is of type ${typeof value}, which has no canonical JSON form`);
  }
}

function writeObject(value: object, path: Path): string {
  if (!isPlain(value)) {
    throw new TypeError(`${shown(path)} is not a plain object (${value.constructor?.name}), which has no canonical JSON form`);
  }
  let text = '{';
  // Default sort compares UTF-16 code units, exactly the order of RFC 8785 section 3.2.3.
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    path.push(key);
    text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:${write(member, path)}`;
    path.pop();
  }
  return `${text}}`;
}

function writeArray(value: readonly unknown[], path: Path): string {
  let text = '[';
  // By index and not by `map`: a hole must throw like `undefined`, not vanish.
  for (let index = 0; index < value.length; index++) {
    path.push(index);
    text += `${index === 0 ? '' : ','}${write(value[index], path)}`;
    path.pop();
  }
  return `${text}]`;
}

function shown(path: Path): string {
  return path.reduce<string>((text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`), '$');
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // `Object.prototype` of another realm (a vm context, as test runners use): its own prototype is null too.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}
