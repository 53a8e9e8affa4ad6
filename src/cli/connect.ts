/** One host and what to paste where. `argv` is the command that starts the server, without a trailing --root. */
interface Host {
  readonly name: string;
  /** Where the text goes. */
  readonly place: string;
  snippet(argv: readonly string[]): string;
}

export const json = (value: unknown): string => JSON.stringify(value, null, 2);
const split = ([command = 'writ', ...args]: readonly string[]): { command: string; args: string[] } => ({ command, args });

/** The hosts the first start prints. Formats as their own documentation gives them. */
export const HOSTS: readonly Host[] = [
  {
    name: 'Claude Code',
    place: 'run once in the project, or write the same into .mcp.json',
    snippet: (argv) => `claude mcp add writ -- ${argv.map(shellWord).join(' ')}`,
  },
  {
    name: 'Codex',
    place: '~/.codex/config.toml',
    snippet: (argv) => {
      const { command, args } = split(argv);
      return `[mcp_servers.writ]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nrequired = true\ntool_timeout_sec = 120`;
    },
  },
  { name: 'Cursor', place: '.cursor/mcp.json', snippet: (argv) => json({ mcpServers: { writ: split(argv) } }) },
  { name: 'Gemini CLI', place: '.gemini/settings.json', snippet: (argv) => json({ mcpServers: { writ: split(argv) } }) },
  {
    name: 'opencode',
    place: 'opencode.json',
    snippet: (argv) => json({ mcp: { writ: { type: 'local', command: argv, enabled: true } } }),
  },
  {
    name: 'Qwen Code',
    place: '.qwen/settings.json, then run once: qwen mcp approve writ',
    snippet: (argv) => json({ mcpServers: { writ: split(argv) } }),
  },
  { name: 'VS Code', place: '.vscode/mcp.json', snippet: (argv) => json({ servers: { writ: { type: 'stdio', ...split(argv) } } }) },
];

/** Ready to paste for every host, or for the one whose name starts as asked; undefined: no such host. */
export function connectText(argv: readonly string[], asked?: string): string | undefined {
  return listed(
    HOSTS,
    ({ name, place }) => `${name}: ${place}`,
    ({ snippet }) => snippet(argv),
    asked,
  );
}

/** Each of the things asked for: its head, then its text, indented. Undefined: none is named so. */
export function listed<T extends { readonly name: string }>(
  things: readonly T[],
  head: (thing: T) => string,
  text: (thing: T) => string,
  asked: string | undefined,
): string | undefined {
  const wanted = asked === undefined ? things : things.filter(({ name }) => plain(name).startsWith(plain(asked)));
  if (wanted.length === 0) return undefined;
  return wanted.map((thing) => `${head(thing)}\n\n${indent(text(thing))}`).join('\n\n');
}

/** `vscode`, `vs-code` and `VS Code` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[ _-]/g, '');
}

export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
