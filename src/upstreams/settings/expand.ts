import type { ConfigNote } from '../../kernel/config/index.ts';
import { isSecretName, secretClass } from '../../kernel/redaction/index.ts';
import type { UpstreamSettings, UpstreamTransport } from '../types.ts';
import { addressProblem } from './address.ts';
import { type Note, notesOf } from './note.ts';
import { isDeclared, type Reference, referencesIn, replaceReferences } from './references.ts';

export interface ExpandParts {
  /** Of Writ itself. */
  readonly env: Readonly<Record<string, string>>;
  /** The encrypted store; undefined: there is no secret of this name. */
  secret(name: string): Promise<string | undefined>;
}

export type Expanded =
  | {
      readonly ok: true;
      readonly transport: UpstreamTransport;
      readonly warnings: readonly ConfigNote[];
      /** What was filled in and what stands in clear where secrets stand; must not be seen anywhere: for redaction. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigNote[] };

/** Fills in what a transport refers to. Problems name the reference and the key, never a value. */
export async function expand(settings: UpstreamSettings, parts: ExpandParts): Promise<Expanded> {
  const { transport } = settings;
  const note = notesOf(settings.name);
  const problems: ConfigNote[] = [];
  const warnings: ConfigNote[] = [];
  const found = new Map<string, string | undefined>();
  for (const reference of textsOf(transport).flatMap(referencesIn)) {
    if (reference.kind !== 'secret' || settings.source === 'project' || found.has(reference.name)) continue;
    found.set(reference.name, await parts.secret(reference.name));
  }
  const secrets = new Set<string>();

  const fill = (text: string, key: readonly (string | number)[], undeclared: 'stays' | 'problem'): string =>
    replaceReferences(text, (reference) => {
      const value = lookUp(reference, settings, parts.env, found);
      if (value.state === 'known') {
        if (value.secret) secrets.add(value.text);
        return value.text;
      }
      if (value.state === 'unknown' || undeclared === 'problem') problems.push(note(key, value.why, value.fix));
      else warnings.push(note(key, `${value.why}; the text stays as it is`, value.fix));
      return undefined;
    });

  const expanded = fillTransport(transport, fill, note, problems);
  if (problems.length > 0) return { ok: false, problems };
  for (const value of inSecretPlaces(expanded, settings.env_secrets)) secrets.add(value);
  return { ok: true, transport: expanded, warnings, secrets: [...secrets] };
}

/** Variables that were declared as secrets or are named like one, credentials of headers, and the secret of a client. */
function inSecretPlaces(transport: UpstreamTransport, env_secrets: readonly string[]): readonly string[] {
  if (transport.type === 'stdio')
    return Object.entries(transport.env).flatMap(([name, value]) =>
      isSecretName(name) || (env_secrets.includes(name) && isSecretThere(name, value)) ? [value] : [],
    );
  const { headers, oauth } = transport;
  const credentials = Object.entries(headers).flatMap(([name, value]) => (isSecretName(name) ? credentialsIn(name, value) : []));
  const client = oauth ? oauth.client_secret : undefined;
  return client === undefined ? credentials : [...credentials, client];
}

/** A region or a profile is declared too, to be filled in, and would be masked wherever it stands. */
function isSecretThere(name: string, value: string): boolean {
  if (isSecretName(name) || secretClass(name) !== undefined) return true;
  return value.length >= 16 || !/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/.test(value);
}

/** Of `Bearer VALUE` the value alone is the secret, of a cookie what stands behind each name. */
function credentialsIn(name: string, value: string): readonly string[] {
  if (name.toLowerCase() === 'cookie') return value.split(/;\s*/).map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [/^\S+\s+(\S+)$/.exec(value)?.[1] ?? value];
}

type Fill = (text: string, key: readonly (string | number)[], undeclared: 'stays' | 'problem') => string;

function fillTransport(transport: UpstreamTransport, fill: Fill, note: Note, problems: ConfigNote[]): UpstreamTransport {
  if (transport.type === 'stdio') {
    return {
      ...transport,
      args: transport.args.map((arg, index) => fill(arg, ['args', index], 'stays')),
      env: Object.fromEntries(Object.entries(transport.env).map(([name, value]) => [name, fill(value, ['env', name], 'stays')])),
    };
  }
  const headers = Object.entries(transport.headers).map(([name, value]): [string, string] => {
    const filled = fill(value, ['headers', name], 'problem');
    if (/[\r\n\0]/.test(filled))
      problems.push(note(['headers', name], 'holds a line break once it is filled in', 'Store the value without it.'));
    return [name, filled];
  });
  const url = fill(transport.url, ['url'], 'problem');
  const wrong = problems.length > 0 ? undefined : addressProblem(url);
  if (wrong !== undefined) problems.push(note(['url'], `${wrong} once it is filled in`));
  const { oauth } = transport;
  const secret = oauth ? oauth.client_secret : undefined;
  return {
    ...transport,
    url,
    headers: Object.fromEntries(headers),
    ...(oauth && secret !== undefined ? { oauth: { ...oauth, client_secret: fill(secret, ['oauth', 'client_secret'], 'problem') } } : {}),
  };
}

type Value =
  | { readonly state: 'known'; readonly text: string; readonly secret: boolean }
  /** Nothing is known under this name. `undeclared`: it may not even be looked up. */
  | { readonly state: 'unknown' | 'undeclared'; readonly why: string; readonly fix: string };

function lookUp(
  reference: Reference,
  { source, env_secrets }: UpstreamSettings,
  env: ExpandParts['env'],
  secrets: ReadonlyMap<string, string | undefined>,
): Value {
  if (reference.kind === 'foreign') {
    return {
      state: 'undeclared',
      why: `refers to ${reference.source.slice(0, 80)}, which means nothing here`,
      fix: `Use \${NAME} or \${secret:NAME}.`,
    };
  }
  const { kind, name } = reference;
  if (kind === 'secret') {
    const text = source === 'operator' ? secrets.get(name) : undefined;
    if (text !== undefined) return { state: 'known', text, secret: true };
    return {
      state: 'unknown',
      why: `refers to the secret "${name}", which is not stored`,
      fix: `Store it: \`writ secret set ${name}\`.`,
    };
  }
  const declared = isDeclared(name, env_secrets);
  const given = declared && Object.hasOwn(env, name) ? env[name] : undefined;
  // An empty variable counts as none, as it does for the child's own environment.
  if (given !== undefined && given !== '')
    return { state: 'known', text: given, secret: env_secrets.includes(name) && isSecretThere(name, given) };
  if (reference.fallback !== undefined) return { state: 'known', text: reference.fallback, secret: false };
  if (!declared) {
    return {
      state: 'undeclared',
      why: `refers to the variable ${name}, which is not declared`,
      fix: `Name it in "env_secrets": ["${name}"].`,
    };
  }
  return {
    state: 'unknown',
    why: `refers to the variable ${name}, which is not set`,
    fix: `Set it where Writ is started, or write \${${name}:-default}.`,
  };
}

function textsOf(transport: UpstreamTransport): readonly string[] {
  if (transport.type === 'stdio') return [...transport.args, ...Object.values(transport.env)];
  const secret = transport.oauth ? transport.oauth.client_secret : undefined;
  return [transport.url, ...Object.values(transport.headers), ...(secret === undefined ? [] : [secret])];
}
