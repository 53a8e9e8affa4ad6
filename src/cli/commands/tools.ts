import { type Command, Option } from 'commander';
import type { App, Terminal } from '../app.ts';
import { TOOL_FORMATS, type ToolFormat } from '../tool-formats.ts';

interface ToolsFlags {
  readonly format?: ToolFormat;
  readonly json?: boolean;
  readonly toolset: string;
  readonly all?: boolean;
}

/** It stands for all that a list of so many leaves out. */
const FINDING = 'find_tools';
/** Characters of a description in the list for people. */
const SHOWN = 100;

export function toolsCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('tools')
    .description('list the tools that agents get here, those of other MCP servers too, which are started for it and ended')
    .addOption(
      new Option('--format <api>', 'as the tools of a request to that API, or as the result of tools/list').choices(
        Object.keys(TOOL_FORMATS),
      ),
    )
    .option('--toolset <name>', 'those of this toolset', 'default')
    .option('--all', 'each tool, where agents would get find_tools and call_tool in place of many')
    .option('--json', 'machine-readable output, on one line; without --format as --format mcp')
    .action(async ({ format, json, toolset, all }: ToolsFlags) => {
      const { tools, missing, waiting } = await (await app()).catalogue({ toolset, whole: all === true });
      if (format === undefined && json !== true) {
        const width = Math.max(0, ...tools.map(({ name }) => name.length));
        for (const { name, description } of tools) terminal.out(`${name.padEnd(width)}  ${firstLine(description)}\n`);
        const searched = tools.some(({ name }) => name === FINDING) ? '; the others are found with it, `writ tools --all` lists them' : '';
        terminal.out(`${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}${searched}\n`);
      } else {
        const { value, notes } = TOOL_FORMATS[format ?? 'mcp'](tools);
        for (const note of notes) terminal.err(`writ: ${note}\n`);
        terminal.out(`${JSON.stringify(value, null, json === true ? 0 : 2)}\n`);
      }
      for (const server of missing) terminal.err(`writ: without the tools of ${server}\n`);
      if (waiting.length > 0) terminal.err(`writ: without what waits for approval: ${waiting.join(', ')} (writ upstream approve NAME)\n`);
    });
}

function firstLine(description: string): string {
  const [line = ''] = description.trim().split('\n', 1);
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 3).toWellFormed()}...`;
}
