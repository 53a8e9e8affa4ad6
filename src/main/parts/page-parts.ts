import type { AuditLog } from '../../audit/index.ts';
import type { Execution } from '../../execution/index.ts';
import type { PageParts } from '../../http/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { visible } from '../../kernel/visible.ts';
import type { Asking } from './approvals.ts';
import type { RunningCalls } from './running-calls.ts';

export interface PagePartsParts
  extends Pick<PageParts, 'sessions' | 'servers' | 'refusals' | 'operator' | 'hosts' | 'public_origin' | 'version' | 'clock' | 'logger'> {
  readonly asking: Asking;
  readonly identity: Identity;
  readonly calls: RunningCalls;
  readonly execution: Execution;
  readonly redactor: Redactor;
  readonly home: string;
  audit(): Promise<AuditLog>;
}

const ORGANIZATION = 'org_local';
const DECISIONS = 30;
/** What a page shows of the record: what was decided by policy and by people, and what was turned away. */
const SHOWN =
  /^(action\.(decided|refused)|approval\.(decided|expired|refused|withdrawn)|grant\.|call\.stopped|job\.cancelled|token\.|workspace\.|upstream\.|upstream_tool\.(approved|denied|revoked|changed)|http\.refused)/;

/** The page's view of this process and its Writ home. */
export function pageParts(parts: PagePartsParts): PageParts {
  const { asking, identity, calls, execution, redactor, clock } = parts;

  const record = async (type: string, about: { agent?: string; workspace?: string }, data: Record<string, unknown>): Promise<void> => {
    const log = await parts.audit();
    // Ending something is recorded on a full disk too.
    await log.record({ type, at: clock.now(), organization: ORGANIZATION, ...about, data }, { essential: true });
  };

  return {
    ...parts,
    approvals: asking.approvals,
    grants: asking.grants,
    async running() {
      const jobs = await execution.jobs.list({ organization: ORGANIZATION });
      const going = jobs.filter(({ state }) => state === 'starting' || state === 'running');
      return [
        ...calls.list().map(({ owner, ...call }) => ({ ...call, kind: 'call' as const, agent: owner.agent, workspace: owner.workspace })),
        ...going.map((job) => ({
          kind: 'job' as const,
          id: job.job_id,
          agent: job.owner.agent,
          workspace: job.owner.workspace,
          tool: 'job',
          what: visible(redactor.text(job.description ?? job.command.slice(0, 300))),
          started_at: job.created_at,
        })),
      ];
    },
    async stop(kind, id) {
      if (kind === 'call') {
        const call = calls.stop(id);
        if (call === undefined) return false;
        await record('call.stopped', call.owner, { tool: call.tool, by: 'operator' });
        return true;
      }
      const before = await execution.jobs.get(id);
      if (before === undefined || (before.state !== 'running' && before.state !== 'starting')) return false;
      const job = await execution.jobs.cancel(id, 'asked by the operator');
      if (job === undefined) return false;
      await record('job.cancelled', job.owner, { job_id: job.job_id, state: job.state, by: 'operator' });
      return true;
    },
    async decisions() {
      const { listEvents } = await import('../../audit/index.ts');
      const { events } = await listEvents(parts.home, { limit: DECISIONS * 4 });
      return events.filter(({ type }) => SHOWN.test(type)).slice(0, DECISIONS);
    },
    async agents() {
      const [tokens, workspaces] = await Promise.all([identity.tokens.list(), identity.workspaces.list()]);
      return { tokens, workspaces };
    },
    recordOpened: () => record('page.opened', {}, { by: 'operator' }),
    async revokeToken(name) {
      const token = await identity.tokens.revoke(name);
      if (token === undefined) return false;
      await record('token.revoked', { agent: token.agent }, { name, by: 'operator' });
      return true;
    },
  };
}
