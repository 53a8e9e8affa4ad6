/** `${NAME}`, `${NAME:-default}`, `${secret:NAME}`; anything else in `${...}` is a form of another program. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly fallback?: string; readonly source: string }
  | { readonly kind: 'secret'; readonly name: string; readonly source: string }
  | { readonly kind: 'foreign'; readonly source: string };

const FORM = /\$\{([^{}]{0,4096})\}/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const SECRET = /^secret:([A-Za-z0-9_.-]{1,128})$/;

/** Names of what a child gets anyway: they need no declaration. */
const COMMON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_[A-Z]+|TZ|TERM)$/;

export function isDeclared(name: string, env_secrets: readonly string[]): boolean {
  return COMMON.test(name) || env_secrets.includes(name);
}

export function referencesIn(text: string): readonly Reference[] {
  return [...text.matchAll(FORM)].map(([source, inner = '']) => read(source, inner));
}

/** The text with each reference replaced; undefined leaves it as it stands. Values are not looked at again. */
export function replaceReferences(text: string, fill: (reference: Reference) => string | undefined): string {
  return text.replace(FORM, (source, inner: string) => fill(read(source, inner)) ?? source);
}

function read(source: string, inner: string): Reference {
  const [, secret] = SECRET.exec(inner) ?? [];
  if (secret !== undefined) return { kind: 'secret', name: secret, source };
  const [, name, fallback] = VARIABLE.exec(inner) ?? [];
  if (name === undefined) return { kind: 'foreign', source };
  return { kind: 'variable', name, source, ...(fallback === undefined ? {} : { fallback }) };
}
