import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Verdict } from '../../policy/types.ts';
import type { App, Settings, Terminal } from '../app.ts';
import { sandboxOption, sandboxSettings } from '../sandbox-flag.ts';

/** So that a script can ask: 0 runs without a question, 10 asks, 11 is refused. */
const EXIT: Readonly<Record<Verdict, number>> = { allow: 0, contained: 0, prompt: 10, deny: 11 };

export function checkCommand(program: Command, app: (settings?: Settings) => Promise<App>, terminal: Terminal): void {
  sandboxOption(program.command('check'))
    .description('say what a shell command would do and what policy decides, without running it')
    .option('--json', 'machine-readable output')
    .option('--cwd <dir>', 'as if run in this folder')
    .argument('<command...>', 'the command, best in one pair of quotes after --')
    .action(async (words: string[], options: { json?: boolean; cwd?: string; sandbox?: string | true }) => {
      const [parts, { checkToJson, renderCheck }] = await Promise.all([app(sandboxSettings(options)), import('../check.ts')]);
      const command = words.join(' ');
      const { assessment, decision } = await parts.check(command, resolve(parts.cwd, options.cwd ?? '.'));
      terminal.out(
        options.json
          ? `${JSON.stringify(checkToJson(command, assessment, decision))}\n`
          : `${renderCheck(command, assessment, decision)}\n`,
      );
      terminal.exit(EXIT[decision.verdict]);
    });
}
