import type { AuditLog } from '../audit/types.ts';
import type { Owner } from '../execution/types.ts';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { type Reader, type Store, select, statement } from '../store/index.ts';
import { type GrantRow, grantOf } from './grant-writes.ts';
import type { Grant, Grants } from './types.ts';
import type { ApprovalWrites } from './writes.ts';

/** What a Grant lives when nobody says, and at most. */
export const GRANT_TTL_MS = 8 * 3_600_000;
const GRANT_MOST_MS = 30 * 24 * 3_600_000;

const LISTED = 500;

export interface GrantsParts {
  readonly store: Pick<Store<ApprovalWrites>, 'write'>;
  /** To a database that is there and up to date. */
  reader(): Promise<Reader>;
  audit(): Promise<AuditLog>;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'value'>;
}

const heldBy = statement<{ organization: string; agent: string; workspace: string }, GrantRow>(
  (db, p) =>
    db
      .selectFrom('grants')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('organization', '=', p.organization)
      .where('agent', '=', p.agent)
      .where('workspace', '=', p.workspace)
      .orderBy('made_at')
      .limit(LISTED) as never,
);

export function createGrants({ store, reader, audit, clock, redactor }: GrantsParts): Grants {
  const record = async (type: string, grant: Grant, data: Record<string, unknown>): Promise<void> => {
    const { agent, workspace } = grant;
    const event = {
      type,
      at: clock.now(),
      organization: 'org_local',
      agent,
      workspace,
      data: { grant: grant.id, scope: grant.scope, ...(redactor.value(data) as object) },
    };
    await (await audit()).record(event, { level: 'full', essential: true });
  };

  const sweepOver = (now: number): Promise<void> => store.write('grants.sweep', { now }, { level: 'normal', essential: true });

  return {
    async make(approval, scope, ttl_ms, by) {
      const offered = approval.card.grants.find((one) => canonicalJson(one) === canonicalJson(scope));
      if (offered === undefined || !['approved', 'used'].includes(approval.state)) {
        throw new AppError('invalid_arguments', 'A Grant is made of an approved question, and only one that its card offers.');
      }
      if (!Number.isFinite(ttl_ms) || ttl_ms < 1_000 || ttl_ms > GRANT_MOST_MS) {
        throw new AppError('invalid_arguments', 'A Grant lives for at least a second and at most 30 days.');
      }
      if (by.channel !== 'terminal' && by.channel !== 'page') {
        throw new AppError('invalid_arguments', 'Only the operator makes a Grant: in a terminal or on the page.');
      }
      const now = clock.now();
      const { organization, agent, workspace } = approval.owner;
      const row = await store.write(
        'grants.make',
        {
          id: newId('grt', now),
          organization,
          agent,
          workspace,
          scope: JSON.stringify(offered),
          opens: JSON.stringify(approval.opens ?? []),
          approval: approval.id,
          made_at: now,
          made_by: JSON.stringify(by),
          expires_at: now + ttl_ms,
        },
        { level: 'full' },
      );
      const grant = grantOf(row);
      await record('grant.made', grant, { approval: approval.id, by, expires_at: grant.expires_at, opens: grant.opens });
      return grant;
    },

    async active({ organization, agent, workspace }: Owner) {
      const now = clock.now();
      const rows = heldBy.all(await reader(), { organization, agent, workspace });
      // What is over is marked by whoever sees it first: a clock that is set back later doesn't bring it back.
      if (rows.some(({ expires_at }) => expires_at <= now)) await sweepOver(now);
      // Made in the future: the clock was set back, and how long it has left can't be told.
      return rows.filter(({ made_at, expires_at }) => made_at <= now && now < expires_at).map(grantOf);
    },

    async list({ active } = {}) {
      await sweepOver(clock.now());
      const session = await reader();
      let query = session.db.selectFrom('grants').selectAll().orderBy('made_at', 'desc').limit(LISTED);
      if (active === true) query = query.where('ended_at', 'is', null);
      return (select(session, query) as unknown as GrantRow[]).map(grantOf);
    },

    async revoke(id, by) {
      const row = await store.write('grants.revoke', { id, at: clock.now(), by: JSON.stringify(by) }, { level: 'full', essential: true });
      if (row === undefined) return undefined;
      const grant = grantOf(row);
      await record('grant.revoked', grant, { by });
      return grant;
    },
  };
}
