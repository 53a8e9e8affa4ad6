import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { withAsking } from '../with-asking.ts';

export function grantCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const grants = program.command('grants').description('answers that are remembered for a while');

  grants
    .command('list')
    .description('those that hold; newest first')
    .option('--all', 'those that are over too')
    .option('--json', 'machine-readable output')
    .action(async (options: { all?: boolean; json?: boolean }) => {
      await withAsking(app, async (asking, { clock }) => {
        const all = await asking.grants.list(options.all ? {} : { active: true });
        const { renderGrants } = await import('../approvals.ts');
        terminal.out(options.json ? `${JSON.stringify(all)}\n` : `${renderGrants(all, clock.now())}\n`);
      });
    });

  grants
    .command('revoke')
    .description('end one now')
    .argument('<id>')
    .option('--json', 'machine-readable output')
    .action(async (id: string, options: { json?: boolean }) => {
      await withAsking(app, async (asking) => {
        const grant = await asking.grants.revoke(id, { channel: 'terminal', who: asking.operator });
        if (grant === undefined)
          throw new AppError('not_found', `There is no Grant "${id}" that holds.`, { fix: '`writ grants list` shows them.' });
        terminal.out(options.json ? `${JSON.stringify(grant)}\n` : `Revoked ${grant.id}.\n`);
      });
    });
}
