import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';

// The database and its query builder are loaded by the command that needs them, not by every start of `writ`.
const room = () => import('../../audit/index.ts');
const words = () => import('../audit.ts');

export function auditCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const audit = program.command('audit').description('read and check the record of what was asked, decided and done');

  audit
    .command('list')
    .description('newest first')
    .option('--type <type>', 'only events of this type, such as action.decided')
    .option('--action <id>', 'only events of this action')
    .option('--limit <n>', 'how many', '50')
    .option('--cursor <cursor>', 'read on from where the last list ended')
    .option('--json', 'machine-readable output')
    .action(async (options: { type?: string; action?: string; limit: string; cursor?: string; json?: boolean }) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
        throw new AppError('invalid_arguments', '--limit must be a whole number from 1 to 1000.');
      const [{ listEvents }, { renderAuditList }] = await Promise.all([room(), words()]);
      const page = await listEvents((await app()).home(), {
        filter: { ...(options.type ? { type: options.type } : {}), ...(options.action ? { action: options.action } : {}) },
        limit,
        ...(options.cursor ? { cursor: options.cursor } : {}),
      });
      terminal.out(options.json ? `${JSON.stringify(page)}\n` : `${renderAuditList(page)}\n`);
    });

  audit
    .command('show')
    .description('everything recorded about one action, or one event by CHAIN:SEQ')
    .argument('<ref>')
    .option('--json', 'machine-readable output')
    .action(async (ref: string, options: { json?: boolean }) => {
      const [{ showEvent }, { renderAuditRecord }] = await Promise.all([room(), words()]);
      const events = await showEvent((await app()).home(), ref);
      if (events.length === 0)
        throw new AppError('not_found', `Nothing is recorded under "${ref}".`, { fix: '`writ audit list` shows what is.' });
      terminal.out(options.json ? `${JSON.stringify(events)}\n` : `${renderAuditRecord(events)}\n`);
    });

  audit
    .command('verify')
    .description('prove that nothing recorded was changed, and say what can not be proven')
    .option('--file <export>', 'check an export instead of this Writ home')
    .option('--fingerprint <fingerprint>', 'the signing key must be this one')
    .option('--json', 'machine-readable output')
    .action(async (options: { file?: string; fingerprint?: string; json?: boolean }) => {
      const [{ verifyAudit, verifyExport }, { renderVerify }] = await Promise.all([room(), words()]);
      const expected = options.fingerprint ? { fingerprint: options.fingerprint } : {};
      const report = options.file ? await verifyExport(options.file, expected) : await verifyAudit((await app()).home(), expected);
      terminal.out(options.json ? `${JSON.stringify(report)}\n` : `${renderVerify(report)}\n`);
      if (!report.ok) terminal.exit(1);
    });

  audit
    .command('export')
    .description('write everything recorded to a file that can be verified offline')
    .argument('<file>')
    .action(async (file: string) => {
      const parts = await app();
      const { exportAudit } = await room();
      const summary = await exportAudit(parts.home(), file, { now: parts.clock.now() });
      terminal.out(`${JSON.stringify(summary)}\n`);
    });
}
