import { Command, CommanderError } from 'commander';
import { type AppError, errorEntry, toAppError } from '../kernel/errors.ts';
import type { App, Settings, Terminal } from './app.ts';
import { approvalCommands } from './commands/approvals.ts';
import { auditCommands } from './commands/audit.ts';
import { checkCommand } from './commands/check.ts';
import { configCommands } from './commands/config.ts';
import { connectCommand } from './commands/connect.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { grantCommands } from './commands/grants.ts';
import { jobCommands } from './commands/job.ts';
import { linkCommand } from './commands/link.ts';
import { mcpCommand } from './commands/mcp.ts';
import { secretCommands } from './commands/secret.ts';
import { tokenCommands } from './commands/token.ts';
import { toolsCommand } from './commands/tools.ts';
import { upCommand } from './commands/up.ts';
import { upstreamCommands } from './commands/upstream.ts';
import { workspaceCommands } from './commands/workspace.ts';

/** Every command of `writ`. `app` is made when a command runs, so that `--help` touches nothing. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  app: (settings?: Settings) => Promise<App>,
  terminal: Terminal,
): Promise<void> {
  const program = new Command('writ')
    .description('One governed door between AI agents and the machines and tools they act on.')
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('(writ --help shows the commands)');
  for (const add of [
    mcpCommand,
    upCommand,
    linkCommand,
    workspaceCommands,
    tokenCommands,
    checkCommand,
    approvalCommands,
    grantCommands,
    upstreamCommands,
    secretCommands,
    toolsCommand,
    jobCommands,
    auditCommands,
    doctorCommand,
    connectCommand,
    configCommands,
    demoCommand,
  ])
    add(program, app, terminal);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (thrown instanceof CommanderError) return terminal.exit(thrown.exitCode === 0 ? 0 : 2);
    const error = toAppError(thrown);
    terminal.err(`writ: ${renderError(error)}\n`);
    terminal.exit(errorEntry(error.code).exit);
  }
}

/** What happened and why, then what to do. */
export function renderError(error: AppError): string {
  return error.fix === undefined ? error.message : `${error.message}\n      ${error.fix}`;
}
