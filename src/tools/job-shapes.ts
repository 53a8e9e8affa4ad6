import { z } from 'zod';
import type { JobRecord, Jobs, SpoolPage } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import { seconds } from './output-text.ts';
import type { CallContext } from './tool.ts';

/** A job as it goes over the wire. Times are epoch milliseconds. */
export const jobShape = z.object({
  job_id: z.string(),
  state: z.string().describe('starting, running, exited, timed_out, cancelled, never_started, lost or unreadable'),
  command: z.string(),
  description: z.string().nullable(),
  cwd: z.string(),
  created_at: z.int(),
  ended_at: z.int().nullable(),
  timeout_ms: z.int(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  total_bytes: z.int(),
  ports: z.array(z.int()).describe('Published at 127.0.0.1 of this machine while it runs.'),
  notes: z.array(z.string()).describe('What its end has shown: refused hosts, and errors whose cause is the containment.'),
});

const COMMAND_SHOWN = 400;

export function jobOnWire(job: JobRecord): z.infer<typeof jobShape> {
  return {
    job_id: job.job_id,
    state: job.state,
    command:
      job.command.length > COMMAND_SHOWN
        ? `${job.command.slice(0, COMMAND_SHOWN)} [... ${job.command.length - COMMAND_SHOWN} more characters]`
        : job.command,
    description: job.description ?? null,
    cwd: job.cwd,
    created_at: job.created_at,
    ended_at: job.ended_at ?? null,
    timeout_ms: job.timeout_ms,
    exit_code: job.exit_code ?? null,
    signal: job.signal ?? null,
    reason: job.reason ?? null,
    total_bytes: job.total_bytes,
    ports: [...(job.ports ?? [])],
    notes: [...(job.receipt?.hints ?? [])],
  };
}

/** One line each, after everything else. */
export function jobNotes(job: JobRecord): string {
  return (job.receipt?.hints ?? []).map((note) => `\n[writ: ${note}]`).join('');
}

/** "job_… exited with 0 after 12 s: npm run build" */
export function jobLine(job: JobRecord): string {
  const what = job.description ?? job.command.split('\n', 1)[0]?.slice(0, 120) ?? '';
  return `${job.job_id} ${stateText(job)}: ${what}`;
}

export function stateText(job: JobRecord): string {
  const life = job.ended_at === undefined ? '' : ` after ${seconds(job.ended_at - job.created_at)}`;
  switch (job.state) {
    case 'exited':
      return `exited with ${job.exit_code ?? '?'}${job.signal ? ` (${job.signal})` : ''}${life}`;
    case 'timed_out':
      return `timed out${life} and was ended`;
    case 'starting':
    case 'running':
      return 'is running';
    default:
      return `is ${job.state}${job.reason ? ` (${job.reason})` : ''}${life}`;
  }
}

export function isOver(job: JobRecord): boolean {
  return job.state !== 'starting' && job.state !== 'running';
}

/** The job if it is the caller's; another agent's or Workspace's looks absent. */
export async function ownJob(jobs: Jobs, job_id: string, context: CallContext): Promise<JobRecord> {
  const job = await jobs.get(job_id);
  if (job && belongsTo(job.owner, context)) return job;
  throw new AppError('not_found', `There is no job "${job_id.slice(0, 64)}" here.`, { fix: 'job_list shows the jobs of this Workspace.' });
}

/** A job outlives the Run that started it, so it belongs to the agent in its Workspace, and a later connection finds it again. */
export function belongsTo(owner: JobRecord['owner'], context: Pick<CallContext, 'owner'>): boolean {
  const me = context.owner;
  return owner.organization === me.organization && owner.agent === me.agent && owner.workspace === me.workspace;
}

export const pageShape = z.object({
  output: z.string().describe('Both streams in order of arrival.'),
  stderr_bytes: z.int().describe('How many bytes of this page came from stderr.'),
  cursor: z.int(),
  next_cursor: z.int().describe('Pass this as `cursor` to read on.'),
  end: z.boolean().describe('Nothing more will come after next_cursor.'),
  dropped_bytes: z.int().describe('Bytes that were written but not kept (spool quota).'),
});

/** `output`: the page's text, masked. */
export function pageOnWire(page: SpoolPage, output: string): z.infer<typeof pageShape> {
  return {
    output,
    stderr_bytes: page.chunks.filter((chunk) => chunk.stream === 'stderr').reduce((sum, chunk) => sum + Buffer.byteLength(chunk.text), 0),
    cursor: page.cursor,
    next_cursor: page.next_cursor,
    end: page.end,
    dropped_bytes: page.dropped_bytes,
  };
}

export function pageText(page: SpoolPage, body: string, how: string): string {
  const footer = page.end
    ? `[end of output at ${page.next_cursor}${page.dropped_bytes > 0 ? `; ${page.dropped_bytes} bytes were written but not kept` : ''}]`
    : `[more may follow: ${how.replace('CURSOR', String(page.next_cursor))}]`;
  return `${body}${body === '' || body.endsWith('\n') ? '' : '\n'}${footer}`;
}
