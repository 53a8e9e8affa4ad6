import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { connectText, HOSTS } from '../connect.ts';

export function connectCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('connect')
    .description('print the configuration that makes a coding agent start `writ mcp`')
    .argument('[host]', HOSTS.map((host) => host.name).join(', '))
    .action(async (host?: string) => {
      const { self } = await app();
      const text = connectText([...self, 'mcp'], host);
      if (text === undefined)
        throw new AppError('invalid_arguments', `No configuration is known for "${host}".`, {
          fix: `Known: ${HOSTS.map((each) => each.name).join(', ')}.`,
        });
      terminal.out(`${text}\n`);
    });
}
