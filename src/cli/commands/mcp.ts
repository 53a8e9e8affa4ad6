import type { Command } from 'commander';
import type { App, Settings } from '../app.ts';
import { sandboxOption, sandboxSettings } from '../sandbox-flag.ts';

const collect = (value: string, previous: readonly string[]): readonly string[] => [...previous, value];

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
    .action(async (options: { root: string[]; toolset: string; upstreams: boolean; sandbox?: string | true }) => {
      await (await app(sandboxSettings(options))).serveMcp({ roots: options.root, toolset: options.toolset, upstreams: options.upstreams });
    });
}
