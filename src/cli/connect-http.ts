import { HOSTS, json, listed } from './connect.ts';

/** Where the token is, in place of the token: a program that reads its configuration never finds it there. */
export interface HttpEntry {
  readonly url: string;
  /** The file that holds the token. */
  readonly file: string;
}

const VARIABLE = 'WRIT_TOKEN';

/** Where it goes, where that is another file than for stdio. */
const PLACES: Readonly<Record<string, string>> = { 'Qwen Code': '.qwen/settings.json' };

/**
 * By the name of the host. Each takes a variable of its environment. Claude Code could run a helper that reads the file, but does so only in a folder
 * that a person has trusted in its dialog, which `claude -p` never shows.
 */
const SNIPPETS: Readonly<Record<string, (entry: HttpEntry) => string>> = {
  'Claude Code': ({ url }) => `claude mcp add --transport http writ ${url} --header 'Authorization: Bearer \${${VARIABLE}}'`,
  Codex: ({ url }) =>
    `[mcp_servers.writ]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = ${JSON.stringify(VARIABLE)}\nrequired = true\ntool_timeout_sec = 120`,
  Cursor: ({ url }) => json({ mcpServers: { writ: { url, headers: { Authorization: `Bearer \${env:${VARIABLE}}` } } } }),
  'Gemini CLI': ({ url }) => json({ mcpServers: { writ: { httpUrl: url, headers: { Authorization: `Bearer $${VARIABLE}` } } } }),
  opencode: ({ url }) =>
    json({ mcp: { writ: { type: 'remote', url, headers: { Authorization: `Bearer {env:${VARIABLE}}` }, oauth: false, enabled: true } } }),
  'Qwen Code': ({ url }) => json({ mcpServers: { writ: { httpUrl: url, headers: { Authorization: `Bearer $${VARIABLE}` } } } }),
  'VS Code': ({ url, file }) =>
    json({
      inputs: [{ type: 'promptString', id: 'writ-token', description: `Token of Writ, in ${file}`, password: true }],
      servers: { writ: { type: 'http', url, headers: { Authorization: `Bearer \${input:writ-token}` } } },
    }),
};

/** Ready to paste for every host, or for the one whose name starts as asked; undefined: no such host. */
export function connectHttpText(entry: HttpEntry, asked?: string): string | undefined {
  const text = listed(
    HOSTS,
    ({ name, place }) => `${name}: ${PLACES[name] ?? place}`,
    ({ name }) => SNIPPETS[name]?.(entry) ?? '',
    asked,
  );
  if (!text?.includes(VARIABLE)) return text;
  return `${text}\n\nWhere a snippet names ${VARIABLE}, set it for the agent before it starts:\n\n    export ${VARIABLE}="$(cat ${quoted(entry.file)})"`;
}

/** As one word of a shell, inside double quotes or not. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
