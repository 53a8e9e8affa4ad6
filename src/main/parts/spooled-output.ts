import type { Gate, GateAnswer } from '../../gate/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { CallScope, OutputEntry, OutputPage, Resources } from '../../mcp/index.ts';
import type { ArtifactStore } from '../../upstreams/index.ts';

const LISTED = 100;

interface ListedJob {
  readonly job_id: string;
  readonly command: string;
  readonly description: string | null;
  readonly total_bytes: number;
}

export interface SpooledParts {
  readonly gate: Gate;
  readonly toolset: string;
  /** Undefined: there are no upstreams. */
  artifacts(): Pick<ArtifactStore, 'list'> | undefined;
}

/**
 * Spooled output and artifacts as MCP resources. Reading one is the same Action as calling the tool that reads it, so it goes the same
 * way: a toolset without the tool has no such resource, and both are in the record.
 */
export function spooledOutput({ gate, toolset, artifacts }: SpooledParts): Resources {
  const call = (tool: string, args: Record<string, unknown>, scope: CallScope, signal: AbortSignal): Promise<GateAnswer> =>
    gate.call({ ...scope, tool, arguments: args, toolset, signal, progress: () => {} });

  const jobs = async (scope: CallScope): Promise<readonly OutputEntry[]> => {
    const answer = await call('job_list', { limit: LISTED }, scope, new AbortController().signal);
    if (answer.type !== 'result') return [];
    const listed = answer.output.structured['jobs'] as readonly ListedJob[];
    return listed.map((job) => ({ id: job.job_id, name: job.description ?? job.command.slice(0, 80), bytes: job.total_bytes }));
  };

  const kept = async ({ owner }: CallScope): Promise<readonly OutputEntry[]> => {
    const store = artifacts();
    if (store === undefined || !gate.list(toolset).some(({ name }) => name === 'read_artifact')) return [];
    return (await store.list(owner)).slice(0, LISTED).map(({ id, server, tool, bytes, media_type }) => ({
      id,
      name: `${server}: ${tool.slice(0, 80)}`,
      bytes,
      mime_type: media_type,
    }));
  };

  return {
    list: async (scope) => [...(await jobs(scope)), ...(await kept(scope))],
    read: async (scope, id, cursor, signal) => {
      const answer = await call(isId('art', id) ? 'read_artifact' : 'shell_output', { id, cursor }, scope, signal);
      if (answer.type === 'input_required') return undefined;
      if (answer.type === 'refused') {
        // Where there are no artifacts there is no such tool.
        if (answer.code === 'not_found' || answer.code === 'invalid_arguments' || answer.code === 'unknown_tool') return undefined;
        throw new AppError(answer.code, answer.message, answer.fix === undefined ? {} : { fix: answer.fix });
      }
      return isId('art', id) ? artifactPage(answer) : outputPage(answer);
    },
  };
}

type Result = Extract<GateAnswer, { readonly type: 'result' }>;

function outputPage({ output }: Result): OutputPage {
  const page = output.structured as { output: string; next_cursor: number; end: boolean };
  return { text: page.output, ...(page.end ? {} : { next_cursor: page.next_cursor }) };
}

function artifactPage({ output }: Result): OutputPage {
  const page = output.structured as { content: string; encoding: string; media_type: string; server: string; next_cursor: number | null };
  const more = {
    mime_type: page.media_type,
    origin: `mcp:${page.server}`,
    ...(page.next_cursor === null ? {} : { next_cursor: page.next_cursor }),
  };
  if (page.encoding === 'text') return { text: page.content, ...more };
  return { blob: page.encoding === 'image' ? (output.images?.[0]?.data ?? '') : page.content, ...more };
}
