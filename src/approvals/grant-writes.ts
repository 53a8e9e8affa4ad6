import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';
import type { Grant } from './types.ts';

/** Grants that hold at once, of all agents: more than this nobody looks through any longer. */
const MOST_ACTIVE = 500;
const KEPT_MS = 90 * 24 * 3_600_000;

export interface GrantRow {
  readonly id: string;
  readonly organization: string;
  readonly agent: string;
  readonly workspace: string;
  readonly scope: string;
  readonly opens: string;
  readonly approval: string;
  readonly made_at: number;
  readonly made_by: string;
  readonly expires_at: number;
  readonly ended_at: number | null;
  readonly ended_by: string | null;
}

type NewGrant = Omit<GrantRow, 'ended_at' | 'ended_by'>;

export function grantOf(row: GrantRow): Grant {
  const { id, agent, workspace, made_at, expires_at } = row;
  return {
    id,
    scope: JSON.parse(row.scope) as Grant['scope'],
    opens: JSON.parse(row.opens) as Grant['opens'],
    agent,
    workspace,
    made_at,
    made_by: JSON.parse(row.made_by) as Grant['made_by'],
    expires_at,
    ...(row.ended_at === null ? {} : { revoked_at: row.ended_at }),
  };
}

const one = statement<{ id: string }, GrantRow>((db, p) => db.selectFrom('grants').selectAll().where('id', '=', p.id) as never);
const insert = statement<{ [K in keyof NewGrant]: NewGrant[K] }>((db, p) =>
  db.insertInto('grants').values({ ...copy(p), ended_at: null, ended_by: null }),
);
const endOver = statement<{ now: number }>((db, p) =>
  db.updateTable('grants').set({ ended_at: p.now }).where('ended_at', 'is', null).where('expires_at', '<=', p.now),
);
const removeOld = statement<{ before: number }>((db, p) => db.deleteFrom('grants').where('ended_at', '<', p.before));
const holding = statement<Record<never, never>, { n: number }>((db) =>
  db
    .selectFrom('grants')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('ended_at', 'is', null),
);
const end = statement<{ id: string; at: number; by: string }>((db, p) =>
  db.updateTable('grants').set({ ended_at: p.at, ended_by: p.by }).where('id', '=', p.id).where('ended_at', 'is', null),
);

/** Placeholders answer to every name, so they are asked by name and not spread. */
function copy(p: NewGrant): NewGrant {
  const { id, organization, agent, workspace, scope, opens, approval, made_at, made_by, expires_at } = p;
  return { id, organization, agent, workspace, scope, opens, approval, made_at, made_by, expires_at };
}

function sweepGrants(session: Session, { now }: { readonly now: number }): void {
  endOver.run(session, { now });
  removeOld.run(session, { before: now - KEPT_MS });
}

export const grantWrites = {
  'grants.sweep': sweepGrants,
  'grants.make': (session: Session, grant: NewGrant): GrantRow => {
    sweepGrants(session, { now: grant.made_at });
    if ((holding.get(session, {})?.n ?? 0) >= MOST_ACTIVE) {
      throw new AppError('busy', `${MOST_ACTIVE} Grants hold already.`, { fix: 'Revoke some: `writ grants list` shows them.' });
    }
    insert.run(session, { ...grant });
    return { ...grant, ended_at: null, ended_by: null };
  },
  /** The row when this ended it. */
  'grants.revoke': (
    session: Session,
    { id, at, by }: { readonly id: string; readonly at: number; readonly by: string },
  ): GrantRow | undefined => (end.run(session, { id, at, by }) === 1 ? one.get(session, { id }) : undefined),
} as const;
