import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { recordOperator } from '../record-operator.ts';

export function secretCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const secret = program.command('secret').description(`values that a configuration names as \${secret:NAME}, stored encrypted`);

  secret
    .command('set')
    .description('store one: typed where nobody sees it, or from standard input; never as an argument')
    .argument('<name>')
    .action(async (name: string) => {
      const value = await typed(name, terminal);
      const parts = await app();
      (await parts.secrets()).set(name, value);
      await recordOperator(parts, { type: 'secret.set', data: { name } });
      terminal.out(`${name} is stored. A server that is running gets it with its next start.\n`);
    });

  secret
    .command('list')
    .description('their names; values are never shown')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const store = await (await app()).secrets();
      const all = store.list().map((name) => ({ name, readable: store.get(name).state === 'value' }));
      if (options.json) return terminal.out(`${JSON.stringify(all)}\n`);
      const lines = all.map(({ name, readable }) => `  ${name}${readable ? '' : '  (damaged: set it again)'}`);
      terminal.out(lines.length === 0 ? 'None are stored.\n' : `${lines.join('\n')}\n`);
    });

  secret
    .command('remove')
    .description('forget one')
    .argument('<name>')
    .action(async (name: string) => {
      const parts = await app();
      const removed = (await parts.secrets()).remove(name);
      if (!removed) {
        throw new AppError('not_found', `There is no secret ${JSON.stringify(name.slice(0, 80))}.`, {
          fix: '`writ secret list` shows them.',
        });
      }
      await recordOperator(parts, { type: 'secret.removed', data: { name } });
      terminal.out(`${name} is removed.\n`);
    });
}

async function typed(name: string, terminal: Terminal): Promise<string> {
  const keyboard = await terminal.keyboard?.();
  if (keyboard?.isTerminal === true) {
    try {
      const value = await keyboard.line(`Value of ${name} (not shown): `, { hidden: true });
      if (value) return value;
      throw new AppError('cancelled', 'Nothing was typed, so nothing was stored.');
    } finally {
      keyboard.close();
    }
  }
  // One line end belongs to whatever printed it.
  const value = (await terminal.input?.())?.replace(/\r?\n$/, '');
  if (value) return value;
  throw new AppError('invalid_arguments', 'There is no value on standard input.', {
    fix: `\`writ secret set ${name} < FILE\`, or type it in a terminal.`,
  });
}
