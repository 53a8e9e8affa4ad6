import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { recordOperator } from '../record-operator.ts';

export function workspaceCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const workspace = program.command('workspace').description('folders that agents over HTTP may work in');

  workspace
    .command('add')
    .description('register a folder under a name; system folders, your home itself and what holds ~/.writ are refused')
    .argument('<name>')
    .argument('<path>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, path: string, options: { json?: boolean }) => {
      const parts = await app();
      const added = await (await parts.identity()).workspaces.add(name, resolve(parts.cwd, path));
      await recordOperator(parts, { type: 'workspace.added', data: { name, path: added.path } });
      terminal.out(options.json ? `${JSON.stringify(added)}\n` : `${name} is ${added.path}\n`);
    });

  workspace
    .command('list')
    .description('by name')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const parts = await app();
      const all = await (await parts.identity()).workspaces.list();
      await (await parts.audit()).close();
      if (options.json) terminal.out(`${JSON.stringify(all)}\n`);
      else terminal.out(all.length === 0 ? 'No workspaces.\n' : `${all.map(({ name, path }) => `${name}  ${path}`).join('\n')}\n`);
    });

  workspace
    .command('remove')
    .description('take the name away; the folder stays as it is, and tokens bound to it lose it within a second')
    .argument('<name>')
    .action(async (name: string) => {
      const parts = await app();
      const removed = await (await parts.identity()).workspaces.remove(name);
      if (removed === undefined) {
        await (await parts.audit()).close();
        throw new AppError('not_found', `There is no workspace "${name.slice(0, 80)}".`, { fix: '`writ workspace list` shows them.' });
      }
      await recordOperator(parts, { type: 'workspace.removed', data: { name, path: removed.path } });
      terminal.out(`${name} is no workspace any more; ${removed.path} is as it was\n`);
    });
}
