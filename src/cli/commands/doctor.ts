import type { Command } from 'commander';
import type { App, Terminal } from '../app.ts';

export function doctorCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('doctor')
    .description('check by running it what this machine can contain')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const { renderProbe } = await import('../doctor.ts');
      const execution = await (await app()).execution();
      const probe = await execution.probe({ fresh: true });
      terminal.out(options.json ? `${JSON.stringify(probe)}\n` : `${renderProbe(probe)}\n`);
      await execution.close();
      if (!probe.ok) terminal.exit(12);
    });
}
