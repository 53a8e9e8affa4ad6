import { isObject } from '../../kernel/json-rpc/message.ts';
import { findReferenceProblem, type SchemaNode } from './references.ts';
import { schemasInside } from './schema-positions.ts';

/** Of one schema, serialised as JSON. */
export const MAX_SCHEMA_BYTES = 256 * 1024;

/** Levels of objects and lists, so that nobody who reads it recursively runs out of stack. */
const MAX_SCHEMA_DEPTH = 60;

const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft\/(?:2020-12|2019-09)|draft-07)\/schema#?$/;
const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/**
 * Why nobody should be handed this schema, as the end of a sentence; undefined: it is sound. It is never changed, expanded or fetched. `object`:
 * the root must say `type: "object"`, since arguments have names.
 */
export function findSchemaProblem(schema: unknown, root: 'object' | 'any'): string | undefined {
  if (!isObject(schema)) return schema === undefined ? 'is missing' : 'is not an object';
  if (deeperThan(schema, MAX_SCHEMA_DEPTH)) return `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES) return `has ${bytes} bytes, more than ${MAX_SCHEMA_BYTES}`;
  if (root === 'object' && schema['type'] !== 'object') return 'is not of type "object"';

  const nodes = new Map<object, SchemaNode>();
  const open: { readonly schema: unknown; readonly path: string }[] = [{ schema, path: '#' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.schema === 'boolean') continue;
    if (!isObject(next.schema)) return `holds something that is no schema at ${next.path}`;
    const problem = badKeyword(next.schema);
    if (problem !== undefined) return `has ${problem} at ${next.path}`;
    const inside = schemasInside(next.schema, next.path);
    if (!inside.ok) return `is wrong: ${inside.problem}`;
    nodes.set(next.schema, { schema: next.schema, path: next.path, inner: inside.inner });
    open.push(...inside.inner);
  }
  return findReferenceProblem(schema, nodes);
}

/** Keywords that every reader relies on; what is unknown stays. */
function badKeyword(schema: Readonly<Record<string, unknown>>): string | undefined {
  const { type, required, $schema } = schema;
  const texts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');
  if ($schema !== undefined && !(typeof $schema === 'string' && DIALECTS.test($schema)))
    return 'an unknown dialect ($schema), so its limits cannot be judged,';
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (!types.every((name) => typeof name === 'string' && TYPES.has(name))) return 'a "type" that there is none of';
  if (required !== undefined && !texts(required)) return 'a "required" that is not a list of texts';
  if ('enum' in schema && !Array.isArray(schema['enum'])) return 'an "enum" that is not a list';
  for (const keyword of ['description', 'title', '$ref', '$dynamicRef', '$anchor', '$id', 'pattern', 'format']) {
    if (schema[keyword] !== undefined && typeof schema[keyword] !== 'string') return `a "${keyword}" that is not a text`;
  }
  return undefined;
}

/** Without recursion: this is what makes recursion safe elsewhere. */
export function deeperThan(value: unknown, most: number): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth > most) return true;
    for (const inner of Object.values(next.value)) open.push({ value: inner, depth: next.depth + 1 });
  }
  return false;
}
