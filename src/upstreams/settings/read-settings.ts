import type { ConfigNote, McpServerConfig } from '../../kernel/config/index.ts';
import { quoted } from '../../kernel/config/parse.ts';
import { SERVER_DEFAULTS, SERVER_LIMITS, type ServerEntry, serverEntrySchema } from '../../kernel/config/server-entry.ts';
import type { UpstreamSettings } from '../types.ts';
import { readNetwork } from './network.ts';
import { type Note, notesOf } from './note.ts';
import { tightenForProject } from './project.ts';
import { isOwn, type Places, readArtifactRoots, readRoots, warnOfUnseen } from './roots.ts';
import { checkSecrets } from './secrets.ts';
import { readTransport } from './transport.ts';
import { judgeUnknownKeys } from './unknown-keys.ts';

/** Everything that is wrong at once; what only deserves a word is in `warnings`. */
export type SettingsRead =
  | { readonly ok: true; readonly settings: UpstreamSettings; readonly warnings: readonly ConfigNote[] }
  | { readonly ok: false; readonly problems: readonly ConfigNote[]; readonly warnings: readonly ConfigNote[] };

/** One entry of `mcp_servers` as settings, or what is wrong with it in words. Nothing is started, written or filled in. */
export function readSettings(name: string, server: McpServerConfig, places: Places): SettingsRead {
  const note = notesOf(name);
  const problems: ConfigNote[] = [];
  const warnings: ConfigNote[] = [];
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name.includes('__')) {
    problems.push(note([], 'is no name for a server: it must be 1 to 64 letters, digits, "_" or "-", without "__"'));
  }
  const unknown = judgeUnknownKeys(server.entry, note);
  problems.push(...unknown.problems);
  warnings.push(...unknown.warnings);
  const parsed = serverEntrySchema.safeParse(server.entry);
  if (!parsed.success) {
    for (const issue of parsed.error.issues.slice(0, 50)) {
      const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
      const message =
        issue.code === 'invalid_key'
          ? (issue.issues[0]?.message ?? issue.message)
          : issue.code === 'unrecognized_keys'
            ? unknownMembers(issue.keys)
            : issue.message;
      problems.push(note(path, message));
    }
    return { ok: false, problems, warnings };
  }
  const ofProject = server.source === 'project';
  if (ofProject && places.project === undefined) problems.push(note([], 'comes from a project that is not known'));
  const entry = ofProject ? tightenForProject(parsed.data, note, warnings) : parsed.data;
  const settings = settingsOf(name, server.source, entry, places, note, problems, warnings);
  return settings === undefined || problems.length > 0 ? { ok: false, problems, warnings } : { ok: true, settings, warnings };
}

function unknownMembers(keys: readonly string[]): string {
  return `has the unknown member ${keys.map(quoted).join(', ')}`;
}

function settingsOf(
  name: string,
  source: 'operator' | 'project',
  entry: ServerEntry,
  places: Places,
  note: Note,
  problems: ConfigNote[],
  warnings: ConfigNote[],
): UpstreamSettings | undefined {
  const project = source === 'project' ? places.project : undefined;
  const from: Places = { writ_home: places.writ_home, user: places.user, ...(project === undefined ? {} : { project }) };
  const transport = readTransport(entry, project, note, problems, warnings);
  if (transport === undefined) return undefined;
  if (transport.type === 'stdio' && transport.cwd !== undefined && !isOwn(transport.cwd, from))
    problems.push(note(['cwd'], 'is outside of the project'));
  type Limited = 'timeout_seconds' | 'connect_timeout_seconds' | 'idle_stop_seconds' | 'max_result_chars';
  const limit = (key: Limited, least: number, most: number): number => {
    const given = entry[key] ?? SERVER_DEFAULTS[key];
    const used = Math.min(Math.max(given, least), most);
    if (used !== given) warnings.push(note([key], `is ${given}; ${used} is used, the ${given > most ? 'most' : 'least'} there is`));
    return used;
  };
  const max_response_bytes = entry.max_response_bytes ?? SERVER_DEFAULTS.max_response_bytes;
  if (max_response_bytes > SERVER_LIMITS.response_bytes)
    problems.push(note(['max_response_bytes'], `must be at most ${SERVER_LIMITS.response_bytes} (64 MiB)`));
  if (entry.enabled !== undefined && entry.enabled === entry.disabled)
    problems.push(note(['disabled'], 'contradicts "enabled"', 'Keep one of the two.'));
  if (entry.prefix?.includes('__')) problems.push(note(['prefix'], 'must not hold "__", which ends it'));
  for (const [index, path] of (entry.unix_sockets ?? []).entries()) {
    if (!path.startsWith('/')) problems.push(note(['unix_sockets', index], 'must be an absolute path'));
  }
  const roots = entry.roots === undefined ? ownRoots(project) : readRoots(entry.roots, from, note, problems, warnings);
  if (transport.type === 'stdio') warnOfUnseen(transport, roots, from, note, warnings);
  return {
    name,
    source,
    ...(project === undefined ? {} : { project }),
    ...checkSecrets(
      transport,
      { source, env_secrets: entry.env_secrets ?? [], ...(places.redactor === undefined ? {} : { redactor: places.redactor }) },
      note,
      problems,
      warnings,
    ),
    enabled: entry.enabled ?? entry.disabled !== true,
    timeout_ms: Math.ceil(limit('timeout_seconds', 0, SERVER_LIMITS.seconds) * 1000),
    connect_timeout_ms: Math.ceil(limit('connect_timeout_seconds', 0, SERVER_LIMITS.seconds) * 1000),
    max_response_bytes,
    max_result_chars: limit('max_result_chars', SERVER_LIMITS.least_result_chars, SERVER_LIMITS.result_chars),
    artifact_roots: readArtifactRoots(entry.artifact_roots ?? [], from, note, problems, warnings),
    disabled_tools: [...new Set(entry.disabled_tools ?? [])],
    require_approval: source === 'project' || entry.require_approval === true,
    low_impact: entry.low_impact === true,
    // Whoever configured it lets it run; that it lies about reading shows as little as what it does.
    trust_annotations: entry.trust_annotations ?? source === 'operator',
    prefix: entry.prefix ?? name,
    roots,
    network: entry.network === undefined ? (source === 'operator' ? 'full' : 'none') : readNetwork(entry.network, note, problems),
    unix_sockets: [...new Set(entry.unix_sockets ?? [])],
    dev_shm: entry.dev_shm === true,
    nested_userns: entry.nested_userns === true,
    concurrency: entry.concurrency ?? SERVER_DEFAULTS.concurrency,
    idle_stop_ms: Math.ceil(limit('idle_stop_seconds', 0, SERVER_LIMITS.idle_seconds) * 1000),
  };
}

/** A project's server mostly lies in the project, and reads there. */
function ownRoots(project: string | undefined): UpstreamSettings['roots'] {
  return project === undefined ? [] : [{ path: project, access: 'read' }];
}
