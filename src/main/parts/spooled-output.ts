import type { Execution, Owner } from '../../execution/index.ts';
import { isId } from '../../kernel/ids.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { Resources } from '../../mcp/index.ts';
import { readSpool } from '../../tools/index.ts';

const PAGE_BYTES = 65_536;

/** Spooled output as MCP resources: the same pages that `shell_output` gives, under the same ownership. */
export function spooledOutput(execution: Execution, redactor: Redactor, agent: Pick<Owner, 'organization' | 'agent'>): Resources {
  return {
    list: async (owner) => {
      const jobs = await execution.jobs.list(agent);
      return jobs
        .filter((job) => job.owner.workspace === owner.workspace)
        .sort((a, b) => b.created_at - a.created_at)
        .slice(0, 100)
        .map((job) => ({ id: job.job_id, name: redactor.text(job.description ?? job.command.slice(0, 80)), bytes: job.spooled_bytes }));
    },
    read: async (owner, id, cursor, signal) => {
      const page = await readSpool(execution, { id, cursor, max_bytes: PAGE_BYTES, owner }, signal);
      if (!page) return undefined;
      const text = redactor.text(page.chunks.map((chunk) => chunk.text).join(''));
      const total = isId('job', id) ? (await execution.jobs.get(id))?.spooled_bytes : undefined;
      return {
        text,
        ...(page.end ? {} : { next_cursor: page.next_cursor }),
        remaining_bytes: Math.max(0, (total ?? page.next_cursor) - page.next_cursor),
      };
    },
  };
}
