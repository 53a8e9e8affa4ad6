import type { Command } from 'commander';
import type { JobRecord, Jobs } from '../../execution/types.ts';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';

/** The operator sees the jobs of every agent and Workspace of this Writ home. */
const EVERYBODY = { organization: 'org_local' };

/** Nothing for those of `writ mcp`, which are most. */
const ofWhom = ({ owner: { agent } }: JobRecord): string => (agent === 'agent_local' ? '' : ` (${agent})`);

export function jobCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const job = program.command('job').description('look at and end background jobs');
  const jobs = async <T>(use: (jobs: Jobs) => Promise<T>): Promise<T> => {
    const execution = await (await app()).execution();
    try {
      return await use(execution.jobs);
    } finally {
      await execution.close();
    }
  };
  const missing = (id: string): AppError => new AppError('not_found', `There is no job "${id}".`, { fix: '`writ job list` shows them.' });

  job
    .command('list')
    .description('newest first')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const { jobLine } = await import('../../tools/index.ts');
      const all = [...(await jobs((each) => each.list(EVERYBODY)))].sort((a, b) => b.created_at - a.created_at);
      if (options.json) terminal.out(`${JSON.stringify(all)}\n`);
      else terminal.out(all.length === 0 ? 'No jobs.\n' : `${all.map((record) => `${jobLine(record)}${ofWhom(record)}`).join('\n')}\n`);
    });

  job
    .command('show')
    .description('everything known about one job')
    .argument('<id>')
    .action(async (id: string) => {
      const record = await jobs((each) => each.get(id));
      if (!record) throw missing(id);
      terminal.out(`${JSON.stringify(record, null, 2)}\n`);
    });

  job
    .command('output')
    .description('its whole kept output')
    .argument('<id>')
    .action(async (id: string) => {
      await jobs(async (each) => {
        for (let cursor = 0; ; ) {
          const page = await each.output(id, { cursor, max_bytes: 65_536, wait_ms: 0 }, AbortSignal.timeout(30_000));
          if (!page) throw missing(id);
          for (const chunk of page.chunks) (chunk.stream === 'stderr' ? terminal.err : terminal.out)(chunk.text);
          if (page.end || page.next_cursor === cursor) return;
          cursor = page.next_cursor;
        }
      });
    });

  job
    .command('cancel')
    .description('end it and everything it started')
    .argument('<id>')
    .action(async (id: string) => {
      const { jobLine } = await import('../../tools/index.ts');
      const record = await jobs((each) => each.cancel(id, 'asked by the operator'));
      if (!record) throw missing(id);
      const { audit, clock } = await app();
      const log = await audit();
      // What the operator does is in the record like what an agent does; ending something is recorded on a full disk too.
      const { organization } = EVERYBODY;
      const data = { job_id: record.job_id, state: record.state, by: 'operator' };
      await log.record(
        { type: 'job.cancelled', at: clock.now(), organization, agent: record.owner.agent, workspace: record.owner.workspace, data },
        { essential: true },
      );
      await log.close();
      terminal.out(`${jobLine(record)}\n`);
    });
}
