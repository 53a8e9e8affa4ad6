import { networkTyped, rootTyped } from '../../kernel/config/typed.ts';
import { AppError } from '../../kernel/errors.ts';
import { isSecretName } from '../../kernel/redaction/index.ts';

export interface EntryFlags {
  readonly url?: string;
  readonly type?: string;
  readonly command?: string;
  readonly args?: string;
  readonly entry?: string;
  readonly cwd?: string;
  readonly network?: string;
  readonly prefix?: string;
  readonly timeout?: string;
  readonly env: readonly string[];
  readonly header: readonly string[];
  readonly root: readonly string[];
  readonly disableTool: readonly string[];
  readonly requireApproval?: boolean;
}

export interface MadeEntry {
  readonly entry: Readonly<Record<string, unknown>>;
  /** What looks like a secret and was given in clear: by the name under which it is to be stored. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** What was typed, as an entry of the configuration: of the keys that were named and no others. It is checked like any other afterwards. */
export function entryOf(name: string, words: readonly string[], flags: EntryFlags): MadeEntry {
  const entry: Record<string, unknown> = { ...(flags.entry === undefined ? {} : objectIn('--entry', flags.entry)) };
  const secrets: Record<string, string> = {};
  const declared = new Set(Array.isArray(entry['env_secrets']) ? (entry['env_secrets'] as string[]) : []);
  const put = (key: string, value: unknown): void => {
    if (value !== undefined) entry[key] = value;
  };
  const value = (of: string, text: string): string => {
    for (const [, used = ''] of text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^{}]*)?\}/g)) declared.add(used);
    if (!isSecretName(of) || text === '' || text.includes('${')) return text;
    const stored = `${name}.${of}`.replace(/[^A-Za-z0-9_.-]/g, '_');
    secrets[stored] = text;
    return `\${secret:${stored}}`;
  };

  const [command, ...args] = words;
  if (flags.command !== undefined && command !== undefined)
    throw invalid('--command and a command after "--" are the same: give one of them.');
  put('type', flags.type);
  put('url', flags.url === undefined ? undefined : value('', flags.url));
  put('command', command ?? flags.command);
  if (flags.args !== undefined && args.length > 0) throw invalid('--args and arguments after "--" are the same: give one of them.');
  if (command !== undefined && args.length > 0) put('args', args);
  if (flags.args !== undefined) put('args', textsIn('--args', flags.args));
  put('cwd', flags.cwd);
  if (flags.env.length > 0) {
    const pairs = flags.env.map((given): [string, string] => {
      const at = given.indexOf('=');
      // Only its name: the value is that of Writ's own environment, whenever the server is started.
      return at < 0 ? [given, value(given, `\${${given}}`)] : [given.slice(0, at), value(given.slice(0, at), given.slice(at + 1))];
    });
    put('env', Object.fromEntries(pairs));
  }
  if (flags.header.length > 0) {
    const pairs = flags.header.map((given): [string, string] => {
      const at = given.indexOf(':');
      if (at < 1) throw invalid(`--header ${JSON.stringify(given.slice(0, 40))} is not written as "Name: value".`);
      return [given.slice(0, at).trim(), value(given.slice(0, at).trim(), given.slice(at + 1).trim())];
    });
    put('headers', Object.fromEntries(pairs));
  }
  if (flags.root.length > 0) put('roots', flags.root.map(rootTyped));
  if (flags.network !== undefined) put('network', networkTyped(flags.network));
  put('prefix', flags.prefix);
  if (flags.timeout !== undefined) put('timeout_seconds', Number(flags.timeout));
  if (flags.disableTool.length > 0) put('disabled_tools', flags.disableTool);
  if (flags.requireApproval) put('require_approval', true);
  if (declared.size > 0) put('env_secrets', [...declared]);
  return { entry, secrets };
}

function textsIn(flag: string, text: string): readonly string[] {
  const value = jsonIn(flag, text);
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw invalid(`${flag} must be a JSON list of texts, such as '["-y", "pkg"]'.`);
  }
  return value as string[];
}

function objectIn(flag: string, text: string): Record<string, unknown> {
  const value = jsonIn(flag, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${flag} must be a JSON object.`);
  return value as Record<string, unknown>;
}

function jsonIn(flag: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`${flag} is no valid JSON.`);
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid_arguments', message);
}
