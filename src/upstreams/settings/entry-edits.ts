import { isSecretName } from '../../kernel/redaction/index.ts';

/** Changes of an entry of `mcp_servers` that a person asks for, as pure functions: what comes out is checked like any other entry. */

type Entry = Readonly<Record<string, unknown>>;

/** A server is on where nothing says otherwise. */
export function switched(entry: Entry, on: boolean): Entry {
  const { enabled: _, disabled: __, ...rest } = entry;
  return on ? rest : { ...rest, enabled: false };
}

/** Exactly these tools of it are off. */
export function withDisabledTools(entry: Entry, tools: readonly string[]): Entry {
  const { disabled_tools: _, ...rest } = entry;
  return tools.length === 0 ? rest : { ...rest, disabled_tools: [...new Set(tools)] };
}

export function disabledTools({ disabled_tools: given }: Entry): readonly string[] {
  return Array.isArray(given) ? given.filter((tool) => typeof tool === 'string') : [];
}

/** RFC 7396 for the keys of an entry: null takes one out, anything else takes its place whole. */
export function patched(entry: Entry, patch: Entry): Entry {
  // Keys are data, `__proto__` as well.
  const next = new Map(Object.entries(entry));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return Object.fromEntries(next);
}

/**
 * What stands in clear under the name of a secret in variables and headers goes out of the entry: there are references in its place, and
 * the values by the names that they are to be stored under. Values under ordinary names stay.
 */
export function sealed(name: string, entry: Entry): { readonly entry: Entry; readonly secrets: Readonly<Record<string, string>> } {
  const secrets: Record<string, string> = {};
  const seal = (values: unknown): unknown => {
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return values;
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        if (!isSecretName(key) || typeof value !== 'string' || value === '' || value.includes('${')) return [key, value];
        const stored = `${name}.${key}`.replace(/[^A-Za-z0-9_.-]/g, '_');
        secrets[stored] = value;
        return [key, `\${secret:${stored}}`];
      }),
    );
  };
  const { env, headers } = entry;
  return {
    entry: { ...entry, ...(env === undefined ? {} : { env: seal(env) }), ...(headers === undefined ? {} : { headers: seal(headers) }) },
    secrets,
  };
}

/** What a mask leaves in the place of a secret: an entry that holds it was read from a list and would destroy what it stands for. */
export function holdsMask(value: unknown): boolean {
  return JSON.stringify(value)?.includes('[redacted') === true;
}
