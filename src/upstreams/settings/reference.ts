import { z } from 'zod';
import { serverEntrySchema } from '../../kernel/config/server-entry.ts';
import { LOOSENS } from './project.ts';
import { SECURITY } from './unknown-keys.ts';

/** docs/reference/mcp-servers.md: the keys of one entry, from the same data that is used at run time. */
export function serverReference(): string {
  const { properties = {} } = z.toJSONSchema(serverEntrySchema, { io: 'input' });
  const rows = Object.entries(properties).map(([name, schema]) => {
    const { description = '' } = typeof schema === 'object' ? schema : {};
    return `| \`${name}\` | ${description.replaceAll('|', '\\|')} | ${SECURITY.has(name) ? 'yes' : ''} |`;
  });
  const projects = LOOSENS.map(({ key, why }) => `- \`${key}\`: ${why}.`);
  return `# MCP servers behind Writ

\`mcp_servers\` (or \`mcpServers\`) of \`~/.writ/config.json\` holds the operator's servers, that of \`writ.json\` in a project the project's. An entry of a Claude Code file is taken as it is.
What is wrong with an entry keeps that one server out, with the reason and the name of the key; the others work. A key that is misspelt and guards something is an error, any other unknown key a warning.

| key | meaning | guards something |
|---|---|---|
${rows.join('\n')}

## What is filled in

In \`env\`, \`headers\` and \`url\`:

| written | becomes |
|---|---|
| \`\${NAME}\` | the variable of Writ's own environment, if it is declared in \`env_secrets\` or is one that every server gets (PATH, HOME, USER, LANG, LC_*, TZ, TERM ...) |
| \`\${NAME:-default}\` | the same, or the default where it is not declared, not set or empty |
| \`\${secret:NAME}\` | the secret of that name in the encrypted store |

A declared variable that isn't set and has no default keeps the server out. A name that isn't declared stays as text in \`env\` and keeps a remote server out, since it would be sent there. It works in \`args\`, too,
where everybody on the machine can read it. Variables whose names look like secrets are passed only where \`env_secrets\` names them or where their value is a \`\${secret:NAME}\`.

## Packages

A command that fetches a package when it is started (npx, npm exec, pnpm dlx, pnpx, yarn dlx, bunx, uvx, uv tool run, pipx run) is never run. \`writ upstream add\`, \`import\` and \`install NAME\` install the package, without its install scripts; the server is started from there, with the arguments that stand behind the package. Nothing is downloaded at a start.

| state | when | what to do |
|---|---|---|
| \`needs_install\` | it isn't installed, or another one than the command names is; or the command can't be understood (unknown options, git and web addresses, a shell around it) | \`writ upstream install NAME\`, or write it as the reason says |
| \`quarantined\` | its installed files are not what was installed | \`writ upstream install NAME\` |

\`~/.writ/packages/NAME.json\` holds what is installed: version, integrity, digest of the lock file. \`writ upstream install NAME --update\` looks for a newer version; a server of a project then has to be approved again. Its folder is for reading: a server that keeps data beside its program needs to be told another place (\`MEMORY_FILE_PATH\` of server-memory).

## What a server of a project can't have

It starts only after a person approved it, in the project's folder, and sees that folder to read where it names no \`roots\`. Roots and artifact roots outside of the project are left out, secrets are not filled in, variables and headers that look like secrets
are taken out, and a name that the operator uses is the operator's. Without \`network\` it has none (an operator's has all of it). These are ignored with a warning:

${projects.join('\n')}

## Results

Pictures, recordings, links and structured content count against \`max_result_chars\` like text. What is over it is kept for a day under \`~/.writ/artifacts\` and read in pages with the tool \`read_artifact\` or as the resource \`writ://artifact/ID\`,
by the agent that made the call and by no other. Only plain text is ever cut, on a character, and says where; everything else stays whole or goes whole. An error has the same limit. Structured content that doesn't fit the tool's own output schema
is shown as text with what is wrong with it. Behind each result stands a line that says which server all of it came from.

A result may refer to files (\`odek.tool-result/v1\`, at most 64): each must lie below a folder of \`artifact_roots\`, by its real path, with the size and digest that the server declares; one that doesn't fails the whole result.
The model is shown a line for each, never a path, and the file is looked at again when it is read: it must be the very file that was referred to.
`;
}
