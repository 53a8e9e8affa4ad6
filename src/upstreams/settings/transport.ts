import { isAbsolute, resolve } from 'node:path';
import type { ConfigNote } from '../../kernel/config/index.ts';
import type { ServerEntry } from '../../kernel/config/server-entry.ts';
import type { UpstreamOAuth, UpstreamTransport } from '../types.ts';
import { addressProblem, isUnencrypted } from './address.ts';
import type { Note } from './note.ts';
import { referencesIn } from './references.ts';

const TYPES: Readonly<Record<string, UpstreamTransport['type']>> = {
  stdio: 'stdio',
  local: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamable_http: 'http',
  streamableHttp: 'http',
  sse: 'sse',
};

/** Keys that say something about a program on this machine, or about a remote server. */
const OF_PROGRAMS = ['args', 'cwd', 'env', 'roots', 'network', 'unix_sockets', 'dev_shm', 'nested_userns', 'idle_stop_seconds'] as const;
const OF_REMOTES = ['headers', 'oauth'] as const;

/** How a server is reached; undefined: it can't be, and `problems` says why. */
export function readTransport(
  entry: ServerEntry,
  project: string | undefined,
  note: Note,
  problems: ConfigNote[],
  warnings: ConfigNote[],
): UpstreamTransport | undefined {
  const { command, url } = entry;
  const type = typeOf(entry, note, problems);
  if (type === undefined) return undefined;
  const needed = type === 'stdio' ? 'command' : 'url';
  const useless = type === 'stdio' ? OF_REMOTES : OF_PROGRAMS;
  for (const key of useless.filter((one) => entry[one] !== undefined)) {
    warnings.push(note([key], `means nothing for ${type === 'stdio' ? 'a program on this machine' : 'a remote server'}; it is ignored`));
  }
  if (type === 'stdio') {
    if (command === undefined) return missing();
    const cwd = cwdOf(entry.cwd, project, note, problems);
    return { type, command, args: entry.args ?? [], env: entry.env ?? {}, ...(cwd === undefined ? {} : { cwd }) };
  }
  if (url === undefined) return missing();
  if (referencesIn(url).length === 0) {
    const wrong = addressProblem(url);
    if (wrong !== undefined) problems.push(note(['url'], wrong));
    else if (isUnencrypted(url))
      warnings.push(note(['url'], 'is not encrypted: whoever is on the way can read and change what is sent', 'Use https://.'));
  }
  const { oauth } = entry;
  if (oauth) checkOAuth(oauth, note, problems, warnings);
  return { type, url, headers: entry.headers ?? {}, ...(oauth === undefined ? {} : { oauth }) };

  function missing(): undefined {
    problems.push(note([needed], 'is missing'));
    return undefined;
  }
}

function typeOf({ type, command, url }: ServerEntry, note: Note, problems: ConfigNote[]): UpstreamTransport['type'] | undefined {
  if (command !== undefined && url !== undefined) {
    problems.push(note([], 'has both "command" and "url"', 'Keep one of the two.'));
    return undefined;
  }
  if (type === undefined) {
    if (command !== undefined || url !== undefined) return command === undefined ? 'http' : 'stdio';
    problems.push(note([], 'has neither "command" nor "url"', 'Write the program of a local server, or the address of a remote one.'));
    return undefined;
  }
  const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (known === undefined) problems.push(note(['type'], 'must be stdio, http or sse'));
  return known;
}

/** A program of a project starts there, as in the programs that its file was written for. */
function cwdOf(cwd: string | undefined, project: string | undefined, note: Note, problems: ConfigNote[]): string | undefined {
  if (cwd === undefined) return project;
  if (project !== undefined) return resolve(project, cwd);
  if (isAbsolute(cwd)) return resolve(cwd);
  problems.push(note(['cwd'], 'must be an absolute path'));
  return undefined;
}

function checkOAuth(oauth: UpstreamOAuth, note: Note, problems: ConfigNote[], warnings: ConfigNote[]): void {
  const { client_id, client_secret, issuer, keys_file } = oauth;
  if (client_secret !== undefined && client_id === undefined) problems.push(note(['oauth', 'client_secret'], 'belongs to no "client_id"'));
  if (keys_file !== undefined && client_id !== undefined)
    problems.push(note(['oauth', 'keys_file'], 'and "client_id" say the same; keep one'));
  if (client_secret !== undefined && issuer === undefined)
    warnings.push(note(['oauth'], 'names no issuer: the secret goes to whoever the server names', 'Write "issuer".'));
}
