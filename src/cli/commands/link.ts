import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { recordOperator } from '../record-operator.ts';

export function linkCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('link')
    .description('make a one-time link to the page of a running `writ up`')
    .action(async () => {
      // Whoever opens it decides as the operator, so it is shown to a person and to no program.
      if (!terminal.interactive) {
        throw new AppError('no_channel', '`writ link` shows its link to a person in a terminal, and this is none.', {
          fix: 'Run it in a terminal of your own, with nothing piped in or out.',
        });
      }
      const parts = await app();
      const { url, running } = await parts.server();
      if (!running) throw new AppError('not_found', 'No `writ up` is running here.', { fix: 'Start it; it prints a link itself.' });
      const identity = await parts.identity();
      terminal.out(`${url}/open#${await identity.links.make()}\nIt opens once, within 10 minutes.\n`);
      await recordOperator(parts, { type: 'link.made', data: {} });
    });
}
