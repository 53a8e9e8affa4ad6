import { isObject } from '../../kernel/json-rpc/message.ts';

/** Where in a JSON Schema other schemas stand (2020-12, 2019-09 and draft-07). Everything else is data and is not read as a schema. */
type Holds = 'schema' | 'list' | 'map';

interface Keyword {
  readonly names: string;
  readonly holds: readonly Holds[];
  readonly in_place?: true;
  readonly shelf?: true;
}

const TABLE: readonly Keyword[] = [
  { names: 'properties patternProperties', holds: ['map'] },
  { names: 'items', holds: ['schema', 'list'] },
  { names: 'prefixItems', holds: ['list'] },
  {
    names: 'additionalProperties unevaluatedProperties propertyNames additionalItems unevaluatedItems contains contentSchema',
    holds: ['schema'],
  },
  { names: 'allOf anyOf oneOf', holds: ['list'], in_place: true },
  { names: 'not if then else', holds: ['schema'], in_place: true },
  { names: 'dependentSchemas dependencies', holds: ['map'], in_place: true },
  { names: '$defs definitions', holds: ['map'], shelf: true },
];
const KEYWORDS = new Map(TABLE.flatMap((rule) => rule.names.split(' ').map((name) => [name, rule] as const)));

export interface Inner {
  readonly schema: unknown;
  readonly path: string;
  /** It judges the same value as the schema around it. */
  readonly in_place: boolean;
  /** It judges nothing until something refers to it. */
  readonly shelf: boolean;
}

export type Inside = { readonly ok: true; readonly inner: readonly Inner[] } | { readonly ok: false; readonly problem: string };

/** The schemas right inside one, or which keyword has a wrong shape. */
export function schemasInside(schema: Readonly<Record<string, unknown>>, path: string): Inside {
  const inner: Inner[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = KEYWORDS.get(keyword);
    if (rule === undefined) continue;
    const at = `${path}/${keyword}`;
    const marks = { in_place: rule.in_place ?? false, shelf: rule.shelf ?? false };
    if (Array.isArray(value) && rule.holds.includes('list'))
      for (const [index, item] of value.entries()) inner.push({ schema: item, path: `${at}/${index}`, ...marks });
    else if (isObject(value) && rule.holds.includes('map')) {
      for (const [name, item] of Object.entries(value)) {
        // draft-07: the names of other properties in place of a schema.
        if (keyword === 'dependencies' && Array.isArray(item)) continue;
        inner.push({ schema: item, path: `${at}/${pointerPart(name)}`, ...marks });
      }
    } else if ((isObject(value) || typeof value === 'boolean') && rule.holds.includes('schema'))
      inner.push({ schema: value, path: at, ...marks });
    else
      return {
        ok: false,
        problem: `${at} is not ${rule.holds.includes('map') ? 'an object' : rule.holds.includes('list') ? 'a list' : 'a schema'}`,
      };
  }
  return { ok: true, inner };
}

function pointerPart(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
