import type { Gate, GateAnswer } from '../../gate/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { CallScope, Resources } from '../../mcp/index.ts';

const LISTED = 100;

interface ListedJob {
  readonly job_id: string;
  readonly command: string;
  readonly description: string | null;
  readonly total_bytes: number;
}

/**
 * Spooled output as MCP resources. Reading one is the same Action as calling the tool that reads it, so it goes the same way: a toolset
 * without the tool has no such resource, and both are in the record.
 */
export function spooledOutput(parts: { readonly gate: Gate; readonly toolset: string }): Resources {
  const call = (tool: string, args: Record<string, unknown>, scope: CallScope, signal: AbortSignal): Promise<GateAnswer> =>
    parts.gate.call({ ...scope, tool, arguments: args, toolset: parts.toolset, signal, progress: () => {} });

  return {
    list: async (scope) => {
      const answer = await call('job_list', { limit: LISTED }, scope, new AbortController().signal);
      if (answer.type !== 'result') return [];
      const jobs = answer.output.structured['jobs'] as readonly ListedJob[];
      return jobs.map((job) => ({ id: job.job_id, name: job.description ?? job.command.slice(0, 80), bytes: job.total_bytes }));
    },
    read: async (scope, id, cursor, signal) => {
      const answer = await call('shell_output', { id, cursor }, scope, signal);
      if (answer.type === 'input_required') return undefined;
      if (answer.type === 'refused') {
        if (answer.code === 'not_found' || answer.code === 'invalid_arguments') return undefined;
        throw new AppError(answer.code, answer.message, answer.fix === undefined ? {} : { fix: answer.fix });
      }
      const page = answer.output.structured as { output: string; next_cursor: number; end: boolean };
      return { text: page.output, ...(page.end ? {} : { next_cursor: page.next_cursor }) };
    },
  };
}
