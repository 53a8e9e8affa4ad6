import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../kernel/json-rpc/message.ts';
import { countCodePoints } from './code-points.ts';

/**
 * Says where a value certainly doesn't fit a JSON Schema (draft 7 or 2020-12). It only labels results, so that what it leaves out makes
 * it milder and never wrong: `pattern` (an expression of a stranger, run on the text of a stranger, has no bound), `format`,
 * `unevaluated*`, references to other documents. Nothing is compiled: every look is bounded, whatever the schema is.
 */

/** Looks at one schema and one value; what is left after that is not checked. */
const MAX_STEPS = 100_000;
const MAX_DEPTH = 64;
const MAX_PATH = 200;

interface Look {
  readonly root: unknown;
  readonly old: boolean;
  steps: number;
}

/** `$.items[3].name must be string`; undefined: it fits, as far as it was looked at. */
export function schemaMismatch(schema: unknown, value: unknown): string | undefined {
  const dialect = isObject(schema) ? schema['$schema'] : undefined;
  const old = typeof dialect === 'string' && dialect.includes('/draft-0');
  return check(schema, value, '$', { root: schema, old, steps: 0 }, 0);
}

type Keyword = (expected: unknown, value: unknown, path: string, look: Look, depth: number, schema: Members) => string | undefined;
type Members = Readonly<Record<string, unknown>>;

function check(schema: unknown, value: unknown, path: string, look: Look, depth: number): string | undefined {
  look.steps++;
  if (look.steps > MAX_STEPS || depth > MAX_DEPTH) return undefined;
  if (schema === false) return `${shortPath(path)} must not be there`;
  if (!isObject(schema)) return undefined;
  // A document of its own: what its references mean isn't looked for.
  if (schema !== look.root && typeof schema['$id'] === 'string') return undefined;
  // Up to draft 7 a reference is all that counts beside itself.
  if (look.old && schema['$ref'] !== undefined) return KEYWORDS['$ref']?.(schema['$ref'], value, path, look, depth + 1, schema);
  for (const [name, expected] of Object.entries(schema)) {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    const wrong = keyword?.(expected, value, path, look, depth + 1, schema);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const number =
  (fits: (value: number, bound: number) => boolean, words: string): Keyword =>
  (bound, value, path) =>
    typeof bound === 'number' && typeof value === 'number' && !fits(value, bound)
      ? `${shortPath(path)} must be ${words} ${bound}`
      : undefined;

const size =
  (of: (value: unknown) => number | undefined, fits: (size: number, bound: number) => boolean, words: string): Keyword =>
  (bound, value, path) => {
    const found = typeof bound === 'number' ? of(value) : undefined;
    return found !== undefined && !fits(found, Number(bound)) ? `${shortPath(path)} must have ${words} ${bound}` : undefined;
  };

const atMost = (size: number, bound: number): boolean => size <= bound;
const atLeast = (size: number, bound: number): boolean => size >= bound;
const characters = (value: unknown): number | undefined => (typeof value === 'string' ? countCodePoints(value) : undefined);
const items = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined);
const members = (value: unknown): number | undefined => (isObject(value) ? Object.keys(value).length : undefined);

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: (target, value, path, look, depth) => {
    const found = typeof target === 'string' ? resolveReference(target, look.root) : undefined;
    return found === undefined ? undefined : check(found, value, path, look, depth);
  },
  type: (expected, value, path) => {
    const types = (Array.isArray(expected) ? expected : [expected]).filter((one) => typeof one === 'string');
    if (types.length === 0 || types.some((type) => !Object.hasOwn(TYPES, type) || TYPES[type]?.(value))) return undefined;
    return `${shortPath(path)} must be ${types.join(' or ')}`;
  },
  enum: (expected, value, path) =>
    Array.isArray(expected) && !expected.some((one) => isDeepStrictEqual(one, value))
      ? `${shortPath(path)} must be one of the given values`
      : undefined,
  const: (expected, value, path) => (isDeepStrictEqual(expected, value) ? undefined : `${shortPath(path)} must be the given value`),
  required: (expected, value, path) => {
    if (!isObject(value) || !Array.isArray(expected)) return undefined;
    const missing = expected.find((name) => typeof name === 'string' && !Object.hasOwn(value, name));
    return missing === undefined ? undefined : `${shortPath(path)} must have the member ${JSON.stringify(missing).slice(0, MAX_PATH)}`;
  },
  properties: (expected, value, path, look, depth) => {
    if (!isObject(value) || !isObject(expected)) return undefined;
    return first(Object.entries(expected), ([name, schema]) =>
      Object.hasOwn(value, name) ? check(schema, value[name], `${path}.${name}`, look, depth) : undefined,
    );
  },
  additionalProperties: (expected, value, path, look, depth, schema) => {
    // Which names an expression matches isn't looked at.
    if (!isObject(value) || schema['patternProperties'] !== undefined) return undefined;
    const known = isObject(schema['properties']) ? schema['properties'] : {};
    return first(Object.entries(value), ([name, one]) =>
      Object.hasOwn(known, name) ? undefined : check(expected, one, `${path}.${name}`, look, depth),
    );
  },
  items: (expected, value, path, look, depth, schema) => {
    if (!Array.isArray(value)) return undefined;
    if (Array.isArray(expected))
      return first(expected.slice(0, value.length).entries(), ([at, one]) => check(one, value[at], `${path}[${at}]`, look, depth));
    const from = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0;
    return first(value.slice(from).entries(), ([at, one]) => check(expected, one, `${path}[${from + at}]`, look, depth));
  },
  prefixItems: (expected, value, path, look, depth) =>
    Array.isArray(value) && Array.isArray(expected)
      ? first(expected.slice(0, value.length).entries(), ([at, one]) => check(one, value[at], `${path}[${at}]`, look, depth))
      : undefined,
  allOf: (expected, value, path, look, depth) =>
    Array.isArray(expected) ? first(expected, (one) => check(one, value, path, look, depth)) : undefined,
  anyOf: (expected, value, path, look, depth) => {
    if (!Array.isArray(expected) || expected.length === 0) return undefined;
    return expected.some((one) => check(one, value, path, look, depth) === undefined)
      ? undefined
      : `${shortPath(path)} fits none of the alternatives`;
  },
  // That it fits more than one can't be said without knowing all of it.
  oneOf: (expected, value, path, look, depth) => KEYWORDS['anyOf']?.(expected, value, path, look, depth, {}),
  minimum: number(atLeast, 'at least'),
  maximum: number(atMost, 'at most'),
  exclusiveMinimum: number((value, bound) => value > bound, 'more than'),
  exclusiveMaximum: number((value, bound) => value < bound, 'less than'),
  minLength: size(characters, atLeast, 'characters: at least'),
  maxLength: size(characters, atMost, 'characters: at most'),
  minItems: size(items, atLeast, 'items: at least'),
  maxItems: size(items, atMost, 'items: at most'),
  minProperties: size(members, atLeast, 'members: at least'),
  maxProperties: size(members, atMost, 'members: at most'),
};

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: isObject,
  array: Array.isArray,
};

function first<T>(all: Iterable<T>, look: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const wrong = look(one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Inside the same schema only: `#`, `#/$defs/a`. */
function resolveReference(target: string, root: unknown): unknown {
  if (target === '#') return root;
  if (!target.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of target.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Reflect.get(at, name);
  }
  return at;
}

/** Names in it are the upstream's. */
function shortPath(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}...` : path;
}
