export interface Place {
  /** `inputSchema.properties.q.description`; of a key: the path of what it names, with ` (name)`. */
  readonly path: string;
  readonly text: string;
}

export interface Strings {
  /** Keys and values in the order they stand. */
  readonly all: readonly Place[];
  /** What the author called things, apart from the words of the schema language between them. */
  readonly names: readonly string[];
  /** What the author wrote for people and models. */
  readonly texts: readonly string[];
  /** Both, in the order they stand. */
  readonly authored: readonly string[];
}

/** Keywords of JSON Schema whose members carry names of the author. */
const NAMING = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
]);
/** Keywords whose values are words of the schema language. */
const FIXED = new Set(['type', '$ref', '$schema', '$id', '$anchor', '$dynamicRef', 'format', 'contentEncoding', 'contentMediaType']);
const PATH_CHARS = 300;
/** At the end of the path of a key. */
export const NAME_MARK = ' (name)';

interface Open {
  readonly value: unknown;
  readonly path: string;
  /** Of a member; absent for an item of a list and for the root. */
  readonly key?: string;
  readonly named: boolean;
}

/** Every string of a JSON value, without recursion: how deep it is, is the sender's choice. */
export function stringsOf(value: unknown): Strings {
  const all: Place[] = [];
  const names: string[] = [];
  const texts: string[] = [];
  const authored: string[] = [];
  const open: Open[] = [{ value, path: '', named: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: at, path, key, named } = next;
    if (key !== undefined) all.push({ path: `${path}${NAME_MARK}`, text: key });
    if (key !== undefined && named) {
      names.push(key);
      authored.push(key);
    }
    if (typeof at === 'string') {
      all.push({ path, text: at });
      if (named || key === undefined || !FIXED.has(key)) {
        texts.push(at);
        authored.push(at);
      }
    } else if (Array.isArray(at)) {
      // The last comes off the stack first.
      for (let index = at.length - 1; index >= 0; index--)
        open.push({ value: at[index], path: `${path}[${index}]`.slice(0, PATH_CHARS), named: false });
    } else if (typeof at === 'object' && at !== null) {
      const namesFollow = key !== undefined && !named && NAMING.has(key);
      for (const [name, inner] of Object.entries(at).reverse()) {
        open.push({ value: inner, path: (path === '' ? name : `${path}.${name}`).slice(0, PATH_CHARS), key: name, named: namesFollow });
      }
    }
  }
  return { all, names, texts, authored };
}
