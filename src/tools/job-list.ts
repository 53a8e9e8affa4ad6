import { z } from 'zod';
import type { Execution } from '../execution/types.ts';
import { belongsTo, isOver, jobLine, jobOnWire, jobShape } from './job-shapes.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool } from './tool.ts';

const input = z.strictObject({
  state: z.enum(['running', 'ended', 'all']).default('all'),
  limit: z.int().min(1).max(200).default(50).describe('Newest first.'),
});

const output = z.object({ jobs: z.array(jobShape), total: z.int().describe('How many there are, shown or not.') });

export function createJobList(execution: Execution): Tool<z.infer<typeof input>> {
  return {
    name: 'job_list',
    description: 'List background jobs of this Workspace, newest first, with their state and exit code.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'List jobs', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ state, limit }, context) => {
      const all = await execution.jobs.list(context.owner);
      const mine = all
        .filter((job) => belongsTo(job.owner, context) && (state === 'all' || (state === 'ended') === isOver(job)))
        .sort((a, b) => b.created_at - a.created_at);
      const shown = mine.slice(0, limit);
      const more = mine.length > shown.length ? `\n[${mine.length - shown.length} older ones are not shown; raise limit]` : '';
      return {
        structured: { jobs: shown.map(jobOnWire), total: mine.length },
        text: shown.length === 0 ? 'There are no such jobs in this Workspace.' : shown.map(jobLine).join('\n') + more,
        evidence: { jobs: mine.length },
      };
    },
  };
}
