import type { Command } from 'commander';
import type { App, Terminal } from '../app.ts';

export function configCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('config')
    .description('look at the configuration')
    .command('check')
    .description('find mistakes and show where each value comes from')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const explained = await (await app()).explainConfig();
      terminal.out(options.json ? `${JSON.stringify(explained.json)}\n` : `${explained.text}\n`);
      if (!explained.ok) terminal.exit(78);
    });
}
