import { isObject } from '../../kernel/json-rpc/message.ts';
import type { ParamHeader } from '../../kernel/json-rpc/param-headers.ts';
import { visible } from '../../kernel/visible.ts';
import { schemasInside } from './schema-positions.ts';

/** The member of a schema that says which header repeats its value (2026-07-28, server/tools, "x-mcp-header"). */
const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** Each is sent with every call. */
const MAX_HEADERS = 64;
const MAX_NAME = 128;

export type ParamHeadersRead =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  /** Why nobody may use a tool with such a schema, as the end of a sentence. */
  | { readonly ok: false; readonly problem: string };

/** Which arguments of a tool are repeated in headers. The schema has been found to be one. */
export function readParamHeaders(inputSchema: unknown): ParamHeadersRead {
  const headers: ParamHeader[] = [];
  const names = new Set<string>();
  /** Without a `path`: somewhere that isn't reached by the names of properties alone. */
  const open: { readonly schema: unknown; readonly path?: readonly string[] }[] = [{ schema: inputSchema, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema, path } = next;
    if (!isObject(schema)) continue;
    if (Object.hasOwn(schema, KEY)) {
      const name = schema[KEY];
      const problem = problemOf(name, schema['type'], path, names);
      if (problem !== undefined) return { ok: false, problem };
      names.add(String(name).toLowerCase());
      headers.push({ name: String(name), path: path ?? [] });
      if (headers.length > MAX_HEADERS) return { ok: false, problem: `names more than ${MAX_HEADERS} headers (${KEY})` };
    }
    const { properties, ...others } = schema;
    if (isObject(properties))
      for (const [name, inner] of Object.entries(properties))
        open.push(path === undefined ? { schema: inner } : { schema: inner, path: [...path, name] });
    const inside = schemasInside(others, '');
    if (inside.ok) for (const { schema: inner } of inside.inner) open.push({ schema: inner });
  }
  return { ok: true, headers };
}

function problemOf(name: unknown, type: unknown, path: readonly string[] | undefined, names: ReadonlySet<string>): string | undefined {
  if (path === undefined || path.length === 0) return `has ${KEY} where no property is reached by names alone`;
  if (typeof name !== 'string' || name === '') return `has a ${KEY} that is no text, or an empty one`;
  if (name.length > MAX_NAME || !TOKEN.test(name))
    return `has the ${KEY} ${JSON.stringify(visible(name.slice(0, 40)))}, which can't be part of a header's name`;
  if (!TYPES.includes(type)) return `has ${KEY} on a property that is no string, integer or boolean`;
  return names.has(name.toLowerCase()) ? `has the ${KEY} "${name}" twice` : undefined;
}
