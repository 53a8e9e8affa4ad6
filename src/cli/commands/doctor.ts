import type { Command } from 'commander';
import type { App, Settings, Terminal } from '../app.ts';
import { sandboxOption, sandboxSettings } from '../sandbox-flag.ts';

export function doctorCommand(program: Command, app: (settings?: Settings) => Promise<App>, terminal: Terminal): void {
  sandboxOption(program.command('doctor'))
    .description('check by running it what this machine can contain')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean; sandbox?: string | true }) => {
      const { renderPrograms, renderProbe } = await import('../doctor.ts');
      const execution = await (await app(sandboxSettings(options))).execution();
      const probe = await execution.probe({ fresh: true });
      terminal.out(options.json ? `${JSON.stringify(probe)}\n` : `${renderProbe(probe)}\n\n${renderPrograms()}\n`);
      await execution.close();
      if (!probe.ok) terminal.exit(12);
    });
}
