import { z } from 'zod';
import type { Execution } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import { jobLine, jobOnWire, jobShape, ownJob } from './job-shapes.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool } from './tool.ts';

const input = z.strictObject({ job_id: z.string().min(1).max(64), reason: z.string().max(200).optional() });

const output = z.object({
  job: jobShape,
  teardown_verified: z.boolean().nullable().describe('The whole process tree was seen gone.'),
});

export function createJobCancel(execution: Execution): Tool<z.infer<typeof input>> {
  return {
    name: 'job_cancel',
    description: 'End a background job of this Workspace and everything it started; answers when its whole process tree is gone.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'End a job', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ job_id, reason }, context) => {
      await ownJob(execution.jobs, job_id, context);
      const job = await execution.jobs.cancel(job_id, reason ?? 'asked by the agent');
      if (!job) throw new AppError('not_found', `The job ${job_id} is gone.`);
      const verified = job.receipt?.teardown.verified ?? null;
      return {
        structured: { job: jobOnWire(job), teardown_verified: verified },
        text: `${jobLine(job)}${verified === false ? '\nThat nothing of it is left running is NOT verified.' : ''}`,
        evidence: { job_id, state: job.state, verified },
      };
    },
  };
}
