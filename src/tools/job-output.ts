import { z } from 'zod';
import type { Execution, SpoolPage } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { isOver, jobNotes, jobOnWire, jobShape, ownJob, pageOnWire, pageShape, pageText, stateText } from './job-shapes.ts';
import { ANSWER_CHARS } from './output-text.ts';
import { fitPage, maskedText } from './read-spool.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool } from './tool.ts';

const MAX_WAIT_MS = 25_000;

const input = z.strictObject({
  job_id: z.string().min(1).max(64),
  cursor: z.int().min(0).default(0).describe('Byte position; pass the next_cursor of the last answer.'),
  max_bytes: z.int().min(1).max(ANSWER_CHARS).default(ANSWER_CHARS),
  wait_ms: z.int().min(0).max(MAX_WAIT_MS).default(0).describe('Wait up to this long for new output or the end.'),
});

const output = pageShape.extend({ job: jobShape });

export function createJobOutput(execution: Execution, redactor: Redactor): Tool<z.infer<typeof input>> {
  return {
    name: 'job_output',
    description: 'Read the output of a background job from a cursor; with wait_ms it waits for new output or the end of the job.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: {
      title: 'Read the output of a job',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ job_id, cursor, max_bytes, wait_ms }, context) => {
      await ownJob(execution.jobs, job_id, context);
      const read = (from: number, bytes: number, wait = 0): Promise<SpoolPage | undefined> =>
        execution.jobs.output(job_id, { cursor: from, max_bytes: bytes, wait_ms: wait }, context.signal);
      const page = await fitPage(await read(cursor, max_bytes, wait_ms), (bytes) => read(cursor, bytes));
      if (!page) throw new AppError('not_found', `The output of ${job_id} is gone.`);
      // Read again: it may have ended while we waited.
      const job = await ownJob(execution.jobs, job_id, context);
      if (isOver(job) && page.end) await execution.jobs.markDelivered(job.job_id, context.owner);
      const again = `job_output {"job_id": "${job_id}", "cursor": CURSOR, "wait_ms": 20000}`;
      const output = await maskedText(page, read, redactor);
      return {
        structured: { ...pageOnWire(page, output), job: jobOnWire(job) },
        text: `${pageText(page, output, again)}\n[${job_id} ${stateText(job)}]${jobNotes(job)}`,
        evidence: { job_id, cursor, next_cursor: page.next_cursor, state: job.state },
        of_run: job.owner.run,
      };
    },
  };
}
