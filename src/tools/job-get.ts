import { z } from 'zod';
import type { Execution } from '../execution/types.ts';
import { isOver, jobLine, jobNotes, jobOnWire, jobShape, ownJob } from './job-shapes.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool } from './tool.ts';

const input = z.strictObject({ job_id: z.string().min(1).max(64) });

const output = z.object({
  job: jobShape,
  teardown_verified: z.boolean().nullable().describe('The whole process tree was seen gone; null while it runs or when nothing is known.'),
});

export function createJobGet(execution: Execution): Tool<z.infer<typeof input>> {
  return {
    name: 'job_get',
    description: 'State of one background job: running, exit code, why it ended. Its output is read with job_output.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Look at a job', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ job_id }, context) => {
      const job = await ownJob(execution.jobs, job_id, context);
      if (isOver(job)) await execution.jobs.markDelivered(job.job_id, context.owner);
      const verified = job.receipt?.teardown.verified ?? null;
      return {
        structured: { job: jobOnWire(job), teardown_verified: verified },
        text: `${jobLine(job)}\n${job.total_bytes} bytes of output${verified === false ? '; that nothing of it is left running is NOT verified' : ''}${jobNotes(job)}`,
        evidence: { job_id, state: job.state },
      };
    },
  };
}
