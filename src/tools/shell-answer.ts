import { z } from 'zod';
import type { ContainmentReport, JobRecord, Outcome, OutputView, RunResult, RunSpec } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import { ANSWER_CHARS, bytesOf, fitStream, outcomeText, readOn, receiptLines, seconds, streamText } from './output-text.ts';
import type { ToolOutput } from './tool.ts';

/** What `shell` answers: the output first, then one line on how it ended, then only what is out of the ordinary. */
export const shellOutput = z.object({
  status: z.enum(['exited', 'timed_out', 'running']).describe('"running": it goes on as the job `job_id`.'),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  stdout: z.string(),
  stderr: z.string(),
  combined: z.string().nullable().describe('Both streams in order of arrival; null when one of them is empty.'),
  total_bytes: z.object({ stdout: z.int(), stderr: z.int() }),
  truncated: z.boolean().describe('Some output is not in this answer; read it with shell_output from `next_cursor`.'),
  output_id: z.string().nullable(),
  next_cursor: z.int().nullable(),
  job_id: z.string().nullable(),
  duration_ms: z.int(),
  containment: z
    .object({ enforced: z.int(), of: z.int(), exceptions: z.record(z.string(), z.string()).describe('Dimensions not fully enforced.') })
    .nullable()
    .describe('What the kernel enforced for this run.'),
  teardown: z.object({ verified: z.boolean(), method: z.string(), survivors: z.array(z.int()), ms: z.number() }).nullable(),
  notes: z.array(z.string()),
});

export function finishedAnswer(result: RunResult, exec_id: string, spec: RunSpec): ToolOutput {
  const { outcome, receipt } = result;
  // No answer, and in the record all the same: which execution it was and what is known of it.
  const data = { exec_id, ...evidenceOf(outcome, result) };
  if (outcome.state === 'never_started') throw new AppError('never_started', `The command never started: ${outcome.reason}`, { data });
  if (outcome.state === 'lost')
    throw new AppError('outcome_unknown', `The process that ran the command is gone: ${outcome.reason}`, { data });
  if (outcome.state === 'cancelled') throw new AppError('cancelled', `The command was cancelled: ${outcome.reason}`, { data });
  const duration_ms = receipt ? receipt.ended_at - receipt.started_at : 0;
  const notes = [...uncontainedNote(receipt?.containment), ...receiptLines(result)];
  const footer = [
    `[${[outcomeText(outcome, spec.timeout_ms), seconds(duration_ms), ...sizeNote(result.output)].join(' · ')}]`,
    ...notes.map((note) => `[writ: ${note}]`),
  ];
  const both = result.output.stderr.total_bytes > 0;
  const body = streamText(result.output.combined, exec_id);
  const shown = streams(result.output, exec_id);
  return {
    structured: {
      ...shown,
      status: outcome.state,
      exit_code: outcome.exit_code,
      signal: 'signal' in outcome ? (outcome.signal ?? null) : null,
      timed_out: outcome.state === 'timed_out',
      job_id: null,
      duration_ms,
      containment: receipt ? containmentOnWire(receipt.containment) : null,
      teardown: receipt ? { ...receipt.teardown, survivors: [...receipt.teardown.survivors] } : null,
      // The text says it where the output is cut.
      notes: shown.truncated ? [...notes, `read on with ${readOn(exec_id, shown.next_cursor)}`] : notes,
    },
    text: `${body}${body === '' || body.endsWith('\n') ? '' : '\n'}${footer.join('\n')}`,
    evidence: { exec_id, ...evidenceOf(outcome, result), streams: both ? 2 : 1 },
  };
}

/** A count and the exceptions: the whole report is in the record, and a model pays for every word. */
function containmentOnWire({ dimensions }: ContainmentReport): z.infer<typeof shellOutput>['containment'] {
  const all = Object.entries(dimensions);
  const exceptions = all.filter(([, entry]) => entry.state !== 'enforced').map(([name, entry]) => [name, entry.state]);
  return { enforced: all.length - exceptions.length, of: all.length, exceptions: Object.fromEntries(exceptions) };
}

function evidenceOf(outcome: Outcome, result: RunResult): Record<string, unknown> {
  const { stdout, stderr } = result.output;
  return {
    ...outcome,
    stdout: { bytes: stdout.total_bytes, sha256: stdout.sha256 },
    stderr: { bytes: stderr.total_bytes, sha256: stderr.sha256 },
    spooled_bytes: result.output.spooled_bytes,
    ...(result.receipt ? { receipt: result.receipt } : {}),
  };
}

export function yieldedAnswer(job: JobRecord, view: OutputView): ToolOutput {
  const body = streamText(view.combined, job.job_id);
  const note = `still running as job ${job.job_id}; ${lookWith(job, view.combined.total_bytes)}; it is ended after ${seconds(job.timeout_ms)}`;
  return {
    structured: {
      ...streams(view, job.job_id),
      status: 'running',
      exit_code: null,
      signal: null,
      timed_out: false,
      job_id: job.job_id,
      duration_ms: 0,
      containment: null,
      teardown: null,
      notes: [note],
    },
    text: `${body}${body === '' || body.endsWith('\n') ? '' : '\n'}[${note}]`,
    evidence: { job_id: job.job_id, yielded: true, bytes_so_far: view.combined.total_bytes },
    goes_on: true,
  };
}

export function startedAnswer(job: JobRecord): ToolOutput {
  const empty = { head: '', tail: '', omitted_bytes: 0, total_bytes: 0, sha256: null };
  const view: OutputView = { stdout: empty, stderr: empty, combined: empty, spooled_bytes: 0 };
  const base = yieldedAnswer(job, view);
  const note =
    `started as job ${job.job_id}; it goes on after this connection ends, for at most ${seconds(job.timeout_ms)}. ` +
    `Its end is announced with a later answer; ${lookWith(job, 0)}${published(job)}`;
  return {
    structured: { ...base.structured, notes: [note] },
    text: `[${note}]`,
    evidence: { job_id: job.job_id, background: true },
    goes_on: true,
  };
}

function published({ ports = [] }: JobRecord): string {
  if (ports.length === 0) return '';
  return `; once it listens, it is at ${ports.map((port) => `http://127.0.0.1:${port}/`).join(' and ')} on this machine`;
}

function lookWith(job: JobRecord, cursor: number): string {
  return `wait for its output with job_output {"job_id": "${job.job_id}", "cursor": ${cursor}, "wait_ms": 20000}`;
}

type Streams = Pick<z.infer<typeof shellOutput>, 'stdout' | 'stderr' | 'combined' | 'total_bytes' | 'truncated' | 'output_id'> & {
  readonly next_cursor: number;
};

function streams(view: OutputView, id: string): Streams {
  const half = ANSWER_CHARS / 2;
  const both = view.stdout.total_bytes > 0 && view.stderr.total_bytes > 0;
  const { head, omitted } = fitStream(view.combined);
  const truncated = omitted > 0;
  // Cursors count both streams together, so they are only told where there is one.
  const own = both ? undefined : id;
  return {
    stdout: streamText(view.stdout, own, both ? half : ANSWER_CHARS),
    stderr: streamText(view.stderr, own, both ? half : ANSWER_CHARS),
    combined: both ? streamText(view.combined, id) : null,
    total_bytes: { stdout: view.stdout.total_bytes, stderr: view.stderr.total_bytes },
    truncated,
    output_id: id,
    next_cursor: truncated ? bytesOf(head) : view.spooled_bytes,
  };
}

function sizeNote(output: OutputView): string[] {
  const total = output.combined.total_bytes;
  return total > 2000 ? [`${total} bytes of output`] : [];
}

function uncontainedNote(report: ContainmentReport | undefined): string[] {
  return report?.backend === 'none' ? ['ran without containment, as it was allowed to'] : [];
}
