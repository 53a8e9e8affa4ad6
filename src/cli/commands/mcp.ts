import type { Command } from 'commander';
import type { App, Settings } from '../app.ts';
import { collect } from '../repeatable.ts';
import { sandboxOption, sandboxSettings } from '../sandbox-flag.ts';

interface McpFlags {
  readonly root: readonly string[];
  readonly toolset: string;
  readonly upstreams: boolean;
  readonly strict?: boolean;
  readonly sandbox?: string | true;
}

export const STRICT = 'exit with 3 before anything is started when an MCP server of the configuration, or a tool of it, waits for a person';

export function mcpCommand(program: Command, app: (settings?: Settings) => Promise<App>): void {
  sandboxOption(program.command('mcp'))
    .description('serve MCP on standard input and output, for a coding agent to start')
    .option(
      '--root <dir>',
      'a folder the agent may work in; repeatable (default: the roots the client names, else the git root of the current folder)',
      collect,
      [],
    )
    .option('--toolset <name>', 'which tools the agent sees', 'default')
    .option('--no-upstreams', 'leave the MCP servers of the configuration out (or WRIT_DISABLE_MCP=1)')
    .option('--strict', STRICT)
    .action(async ({ root: roots, toolset, upstreams, strict = false, ...sandbox }: McpFlags) => {
      await (await app(sandboxSettings(sandbox))).serveMcp({ roots, toolset, upstreams, strict });
    });
}
