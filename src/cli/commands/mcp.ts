import type { Command } from 'commander';
import type { App } from '../app.ts';

const collect = (value: string, previous: readonly string[]): readonly string[] => [...previous, value];

export function mcpCommand(program: Command, app: () => Promise<App>): void {
  program
    .command('mcp')
    .description('serve MCP on standard input and output, for a coding agent to start')
    .option(
      '--root <dir>',
      'a folder the agent may work in; repeatable (default: the roots the client names, else the git root of the current folder)',
      collect,
      [],
    )
    .option('--toolset <name>', 'which tools the agent sees', 'default')
    .action(async (options: { root: string[]; toolset: string }) => {
      await (await app()).serveMcp({ roots: options.root, toolset: options.toolset });
    });
}
