import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { parseSince } from '../since.ts';

// The database and its query builder are loaded by the command that needs them, not by every start of `writ`.
const room = () => import('../../audit/index.ts');
const words = () => import('../audit.ts');

interface ListFlags {
  readonly type?: string;
  readonly action?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly run?: string;
  readonly since?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

export function auditCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const audit = program.command('audit').description('read and check the record of what was asked, decided and done');

  audit
    .command('list')
    .description('newest first')
    .option('--type <type>', 'only events of this type, such as action.decided')
    .option('--action <id>', 'only events of this action')
    .option('--tool <name>', 'only events of this tool')
    .option('--agent <id>', 'only events of this agent')
    .option('--run <id>', 'only events of this run')
    .option('--since <when>', 'only events since then: a time such as 2026-11-30T15:04Z, or how long ago, such as 90m, 12h, 7d')
    .option('--limit <n>', 'how many', '50')
    .option('--cursor <cursor>', 'read on from where the last list ended')
    .option('--json', 'machine-readable output')
    .action(async (options: ListFlags) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
        throw new AppError('invalid_arguments', '--limit must be a whole number from 1 to 1000.');
      const parts = await app();
      const { type, action, tool, agent, run } = options;
      const since = options.since === undefined ? undefined : parseSince(options.since, parts.clock.now());
      const filter = Object.fromEntries(
        Object.entries({ type, action, tool, agent, run, since }).filter(([, value]) => value !== undefined),
      );
      const [{ listEvents }, { renderAuditList }] = await Promise.all([room(), words()]);
      const page = await listEvents(parts.home(), {
        filter,
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
      const shown = await showEvent((await app()).home(), ref);
      terminal.out(options.json ? `${JSON.stringify(shown)}\n` : `${renderAuditRecord(shown)}\n`);
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

  audit
    .command('archive')
    .description('move what is older or more than audit.retention_days and audit.retention_bytes keep into audit/archive, now')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const [summary, { renderArchived }] = await Promise.all([(await app()).archiveAudit(), words()]);
      terminal.out(options.json ? `${JSON.stringify(summary)}\n` : `${renderArchived(summary)}\n`);
      if (summary.refused.length > 0) terminal.exit(1);
    });
}
