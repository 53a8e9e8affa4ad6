import { type Session, statement } from '../store/index.ts';
import type { ApprovalRecord, ApprovalState, AskedBy, Card } from './types.ts';

/** An approval as it is stored; times on both clocks (times.ts). */
export interface ApprovalRow {
  readonly id: string;
  readonly state: ApprovalState;
  readonly digest: string;
  readonly organization: string;
  readonly agent: string;
  readonly run: string;
  readonly workspace: string;
  readonly card: string;
  readonly offered: string;
  readonly asked_by: string;
  readonly boot: string;
  readonly created_at: number;
  readonly created_up: number;
  readonly expires_at: number;
  readonly decided_at: number | null;
  readonly decided_up: number | null;
  readonly decided_by: string | null;
  readonly note: string | null;
  readonly opens: string | null;
  readonly taken: number;
}

const one = statement<{ id: string }, ApprovalRow>((db, p) => db.selectFrom('approvals').selectAll().where('id', '=', p.id) as never);

export function rowOf(session: Session, id: string): ApprovalRow | undefined {
  return one.get(session, { id });
}

export function recordOf(row: ApprovalRow): ApprovalRecord {
  const { organization, agent, run, workspace } = row;
  return {
    id: row.id,
    state: row.state,
    digest: row.digest,
    owner: { organization, agent, run, workspace },
    card: JSON.parse(row.card) as Card,
    asked_by: JSON.parse(row.asked_by) as AskedBy,
    created_at: row.created_at,
    expires_at: row.expires_at,
    ...(row.decided_at === null ? {} : { decided_at: row.decided_at }),
    ...(row.decided_by === null ? {} : { decided_by: JSON.parse(row.decided_by) as NonNullable<ApprovalRecord['decided_by']> }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.opens === null ? {} : { opens: JSON.parse(row.opens) as NonNullable<ApprovalRecord['opens']> }),
  };
}
