import type { Command } from 'commander';
import type { App, Terminal } from '../app.ts';
import { answerCommands } from '../upstream/answers.ts';
import { configureCommands } from '../upstream/configure.ts';
import { importCommand } from '../upstream/import.ts';
import { installCommand } from '../upstream/install.ts';
import { loginCommands } from '../upstream/login.ts';
import { lookCommands } from '../upstream/look.ts';
import { runningCommands } from '../upstream/running.ts';

export function upstreamCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const upstream = program.command('upstream').description('MCP servers behind this door: what they are, what they may');
  for (const add of [lookCommands, configureCommands, importCommand, installCommand, answerCommands, loginCommands, runningCommands])
    add(upstream, app, terminal);
}
