import { serverEntrySchema } from '../../kernel/config/server-entry.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import { isSecretName, type Redactor } from '../../kernel/redaction/index.ts';
import { type Met, type ReferenceParts, secretName, translateReferences } from './foreign-references.ts';
import { suggestRoots } from './suggest-roots.ts';
import type { ForeignServer, Host, Translated } from './types.ts';

export interface TranslateParts {
  readonly host: Host | undefined;
  readonly home: string | undefined;
  readonly redactor: Pick<Redactor, 'find'>;
  /** Whether a folder may be given to a server. */
  fits(path: string): boolean;
}

type Entry = Record<string, unknown>;

/** Keys that say something else here, and what becomes of them. Seconds and milliseconds differ from program to program. */
const DROPPED: Readonly<Record<string, string>> = {
  autoApprove: 'what asks is decided by policy here',
  alwaysAllow: 'what asks is decided by policy here',
  trust: 'what asks is decided by policy here',
  oauth: '`writ upstream login` finds out by itself what the server wants',
};
const SILENT: ReadonlySet<string> = new Set(['name', 'description', 'gallery', 'version', 'transportType', 'transport']);
const ONLY_SOME: readonly string[] = ['includeTools', 'enabled_tools', 'tools'];

/** One server of another program for Writ. Pure but for a look at which folders exist. */
export function translate({ name: given, entry: foreign }: ForeignServer, parts: TranslateParts): Translated {
  const name =
    given
      .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
      .replaceAll(/_{2,}/g, '_')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 64) || 'server';
  const met: Met = { declared: new Set(textsOf(foreign['env_secrets'])), wanted: new Set(), notes: new Set(), broken: false };
  if (name !== given) met.notes.add(`it is called ${name} here`);
  const reference: ReferenceParts = { server: name, home: parts.home, bare: parts.host === 'gemini' };
  const secrets: Record<string, string> = {};
  const text = (value: string): string => translateReferences(value, reference, met);
  const seal = (of: string, value: string): string => {
    let stored = secretName(name, of);
    for (let time = 2; secrets[stored] !== undefined && secrets[stored] !== value; time++) stored = secretName(name, `${of}-${time}`);
    secrets[stored] = value;
    return `\${secret:${stored}}`;
  };
  const looksSecret = (of: string, value: string): boolean =>
    value !== '' && !value.includes('${') && (isSecretName(of) || parts.redactor.find(value).length > 0);
  const values = (of: unknown): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(isObject(of) ? of : {}).map(([key, raw]) => {
        if (typeof raw === 'boolean' || typeof raw === 'number') return [key, String(raw)];
        if (typeof raw !== 'string') return [key, raw];
        const value = text(raw);
        return [key, looksSecret(key, value) ? seal(key, value) : value];
      }),
    );

  const entry: Entry = {};
  const words = commandOf(foreign);
  if (words !== undefined) {
    const [command, ...args] = words;
    if (isWrit(words)) return { type: 'skipped', name: given, why: 'it is Writ itself' };
    const remote = remoteOf(words);
    if (remote === undefined) {
      const translated = args.map(text);
      entry['command'] = text(command ?? '');
      if (args.length > 0) entry['args'] = translated.map((arg, at) => sealArg(arg, translated[at - 1], looksSecret, seal));
    } else {
      met.notes.add('it is reached directly, without mcp-remote');
      Object.assign(entry, { type: 'http', url: text(remote.url) });
      if (Object.keys(remote.headers).length > 0) entry['headers'] = values(remote.headers);
    }
  }
  for (const [key, value] of Object.entries(foreign)) take(key, value);
  if (typeof entry['url'] === 'string') entry['url'] = sealUrl(entry['url'], looksSecret, seal);
  if (entry['command'] !== undefined) giveFolders(entry, words ?? [], parts, met);
  const declared = [...met.declared];
  if (declared.length > 0) entry['env_secrets'] = declared;
  if (met.broken) {
    entry['enabled'] = false;
    met.notes.add('it is disabled until that is mended');
  }
  if (entry['command'] === undefined && entry['url'] === undefined)
    return { type: 'skipped', name: given, why: 'it has neither a program nor an address' };
  return { type: 'server', server: { name, entry, secrets, wanted: [...met.wanted], notes: [...met.notes] } };

  function take(key: string, value: unknown): void {
    switch (key) {
      case 'command':
      case 'args':
      case 'env_secrets':
        return;
      case 'env':
      case 'environment':
        if (entry['url'] === undefined && Object.keys(values(value)).length > 0)
          entry['env'] = { ...(entry['env'] as Entry), ...values(value) };
        return;
      case 'headers':
      case 'http_headers':
        entry['headers'] = { ...(entry['headers'] as Entry), ...values(value) };
        return;
      case 'env_http_headers':
        references('headers', value);
        return;
      case 'env_vars':
        references('env', Object.fromEntries(textsOf(value).map((one) => [one, one])));
        return;
      case 'bearer_token_env_var':
        if (typeof value !== 'string') return;
        met.declared.add(value);
        entry['headers'] = { ...(entry['headers'] as Entry), Authorization: `Bearer \${${value}}` };
        return;
      case 'httpUrl':
      case 'serverUrl':
      case 'url':
        if (typeof value !== 'string') return;
        entry['url'] = text(value);
        if (key === 'url' && parts.host === 'gemini' && foreign['type'] === undefined) entry['type'] = 'sse';
        return;
      case 'type':
        if (typeof value === 'string' && !['local', 'remote', 'stdio'].includes(value)) entry['type'] = value;
        return;
      case 'enabled':
      case 'disabled':
        if (value === (key === 'disabled')) entry['enabled'] = false;
        return;
      case 'excludeTools':
      case 'disabled_tools':
        entry['disabled_tools'] = value;
        return;
      case 'timeout':
        if (typeof value === 'number' && value > 0) {
          // Opencode means the wait for the list of tools; those who write seconds write small numbers.
          const seconds = value >= 1000 ? Math.ceil(value / 1000) : value;
          entry[parts.host === 'opencode' ? 'connect_timeout_seconds' : 'timeout_seconds'] = seconds;
        }
        return;
      case 'tool_timeout_sec':
        entry['timeout_seconds'] = value;
        return;
      case 'startup_timeout_sec':
        entry['connect_timeout_seconds'] = value;
        return;
      case 'startup_timeout_ms':
        if (typeof value === 'number') entry['connect_timeout_seconds'] = Math.ceil(value / 1000);
        return;
      case 'cwd':
        if (typeof value === 'string') entry['cwd'] = text(value);
        return;
      default:
        other(key, value);
    }
  }

  function references(key: 'headers' | 'env', value: unknown): void {
    const pairs = Object.entries(isObject(value) ? value : {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    for (const [, variable] of pairs) met.declared.add(variable);
    entry[key] = { ...(entry[key] as Entry), ...Object.fromEntries(pairs.map(([one, variable]) => [one, `\${${variable}}`])) };
  }

  function other(key: string, value: unknown): void {
    if (ONLY_SOME.includes(key)) {
      if (Array.isArray(value) && (value.length === 0 || value.includes('*'))) return;
      met.notes.add(`only some of its tools were used (${key}): name the others in disabled_tools`);
      met.broken = true;
    } else if (key === 'envFile') {
      met.notes.add(`it read variables from ${String(value)}: name them in env`);
      met.broken = true;
    } else if (Object.hasOwn(serverEntrySchema.shape, key)) entry[key] = value;
    else if (!SILENT.has(key)) met.notes.add(`${key.slice(0, 60)} is left out${Object.hasOwn(DROPPED, key) ? `: ${DROPPED[key]}` : ''}`);
  }
}

/** A word or a list of them, with or without arguments beside it. */
function commandOf({ command, args }: Entry): readonly string[] | undefined {
  const first = typeof command === 'string' && command !== '' ? [command] : textsOf(command);
  return first.length === 0 ? undefined : [...first, ...textsOf(args)];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string' || typeof item === 'number').map(String) : [];
}

function isWrit(words: readonly string[]): boolean {
  return words.some((word, at) => /(?:^|\/)writ(?:\.mjs)?(?:@[^/]*)?$/.test(word) && words[at + 1] === 'mcp');
}

/** `npx mcp-remote URL`: a bridge to what Writ reaches by itself. */
function remoteOf(words: readonly string[]): { readonly url: string; readonly headers: Record<string, string> } | undefined {
  const at = words.findIndex((word) => /^mcp-remote(?:@[\w.-]+)?$/.test(word));
  const url = at < 0 ? undefined : words.slice(at + 1).find((word) => /^https?:\/\//.test(word));
  if (url === undefined) return undefined;
  const headers = words.flatMap((word, index): [string, string][] => {
    const given = word === '--header' ? (words[index + 1] ?? '') : '';
    const colon = given.indexOf(':');
    return colon < 1 ? [] : [[given.slice(0, colon).trim(), given.slice(colon + 1).trim()]];
  });
  return { url, headers: Object.fromEntries(headers) };
}

type Looks = (of: string, value: string) => boolean;
type Seal = (of: string, value: string) => string;

/** `--api-key VALUE`, `--api-key=VALUE`, or what can be nothing else. */
function sealArg(arg: string, before: string | undefined, looksSecret: Looks, seal: Seal): string {
  const [, flag, value] = /^--?([\w.-]+)=(.+)$/s.exec(arg) ?? [];
  if (flag !== undefined && value !== undefined)
    return looksSecret(flag, value) ? `${arg.slice(0, -value.length)}${seal(flag, value)}` : arg;
  const [, named] = arg.startsWith('-') ? [] : (/^--?([\w.-]+)$/.exec(before ?? '') ?? []);
  if (named !== undefined) return looksSecret(named, arg) ? seal(named, arg) : arg;
  return arg.startsWith('-') || !looksSecret('', arg) ? arg : seal('arg', arg);
}

/** Keys in the query are what some remote servers are given instead of a header. */
function sealUrl(url: string, looksSecret: Looks, seal: Seal): string {
  return url.replaceAll(/([?&])([\w.-]+)=([^&#]+)/g, (whole, mark: string, key: string, value: string) =>
    looksSecret(key, value) ? `${mark}${key}=${seal(key, value)}` : whole,
  );
}

function giveFolders(entry: Entry, words: readonly string[], { fits }: TranslateParts, met: Met): void {
  if (entry['roots'] !== undefined) return;
  const named = [...words, ...Object.values(isObject(entry['env']) ? entry['env'] : {}), entry['cwd']];
  const roots = suggestRoots(
    named.filter((one) => typeof one === 'string'),
    fits,
  );
  if (roots.length > 0) {
    entry['roots'] = roots;
    met.notes.add(
      `it reads ${roots.join(', ')} and nothing else of this machine ("roots" of its entry; {"path": ..., "access": "write"} lets it write)`,
    );
  }
  if (/(?:^|\/)(?:docker|podman)$/.test(String(entry['command']))) {
    met.notes.add('it starts containers, for which it needs the socket of the engine: name it in unix_sockets');
  }
}
