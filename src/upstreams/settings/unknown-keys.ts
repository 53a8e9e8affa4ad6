import type { ConfigNote } from '../../kernel/config/index.ts';
import { nearest } from '../../kernel/config/keys.ts';
import { quoted } from '../../kernel/config/parse.ts';
import { serverEntrySchema } from '../../kernel/config/server-entry.ts';
import type { Note } from './note.ts';

/** A misspelt one would leave something open, or unbounded, that its author thinks is closed. */
export const SECURITY: ReadonlySet<string> = new Set([
  'env_secrets',
  'enabled',
  'disabled',
  'disabled_tools',
  'require_approval',
  'trust_annotations',
  'low_impact',
  'timeout_seconds',
  'max_response_bytes',
  'max_result_chars',
  'roots',
  'artifact_roots',
  'network',
  'unix_sockets',
  'dev_shm',
  'nested_userns',
]);

/** Keys of other programs' files. What closes something there must not be passed over here. */
const FOREIGN: Readonly<Record<string, { readonly severity: 'error' | 'warning'; readonly fix: string }>> = {
  includeTools: { severity: 'error', fix: 'Name the others in "disabled_tools".' },
  enabled_tools: { severity: 'error', fix: 'Name the others in "disabled_tools".' },
  excludeTools: { severity: 'error', fix: 'Write "disabled_tools".' },
  tools: { severity: 'error', fix: 'Name those that nobody may call in "disabled_tools".' },
  httpUrl: { severity: 'error', fix: 'Write "url" and "type": "http".' },
  serverUrl: { severity: 'error', fix: 'Write "url".' },
  timeout: { severity: 'warning', fix: 'Write "timeout_seconds".' },
  tool_timeout_sec: { severity: 'warning', fix: 'Write "timeout_seconds".' },
  startup_timeout_sec: { severity: 'warning', fix: 'Write "connect_timeout_seconds".' },
  environment: { severity: 'warning', fix: 'Write "env".' },
  envFile: { severity: 'warning', fix: 'Write the variables in "env".' },
  http_headers: { severity: 'warning', fix: 'Write "headers".' },
  env_http_headers: { severity: 'warning', fix: `Write "headers" with \${NAME}, and the names in "env_secrets".` },
  bearer_token_env_var: {
    severity: 'warning',
    fix: `Write "headers": {"Authorization": "Bearer \${NAME}"}, and the name in "env_secrets".`,
  },
  headersHelper: { severity: 'warning', fix: `Write "headers" with \${secret:NAME}.` },
  autoApprove: { severity: 'warning', fix: 'What asks is decided by policy and by "require_approval".' },
  alwaysAllow: { severity: 'warning', fix: 'What asks is decided by policy and by "require_approval".' },
  trust: { severity: 'warning', fix: 'What asks is decided by policy and by "require_approval".' },
};

const KNOWN = Object.keys(serverEntrySchema.shape).map((name) => ({ name, security: SECURITY.has(name) }));

export function judgeUnknownKeys(
  entry: Readonly<Record<string, unknown>>,
  note: Note,
): { readonly problems: readonly ConfigNote[]; readonly warnings: readonly ConfigNote[] } {
  const problems: ConfigNote[] = [];
  const warnings: ConfigNote[] = [];
  for (const name of Object.keys(entry).filter((one) => !Object.hasOwn(serverEntrySchema.shape, one))) {
    const foreign = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined;
    const near = nearest(name, KNOWN);
    if (foreign !== undefined) {
      const message =
        foreign.severity === 'error'
          ? 'is a key of another program, and limits something there'
          : 'is a key of another program; it is ignored';
      (foreign.severity === 'error' ? problems : warnings).push(note([name], message, foreign.fix));
    } else if (near?.security) {
      problems.push(note([name], `is unknown and looks like "${near.name}"`, `Write "${near.name}", or remove it.`));
    } else {
      warnings.push(
        note([], `has the unknown key ${quoted(name)}; it is ignored`, near === undefined ? 'Remove it.' : `Did you mean "${near.name}"?`),
      );
    }
  }
  return { problems, warnings };
}
