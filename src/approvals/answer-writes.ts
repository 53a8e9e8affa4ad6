import type { Opening } from '../policy/types.ts';
import { type Session, statement } from '../store/index.ts';
import { wordFor } from './friction.ts';
import { leftOpen } from './openings.ts';
import { type ApprovalRow, rowOf } from './rows.ts';
import { sweep } from './sweep.ts';
import { isOver, type Moment } from './times.ts';
import type { Card, Decider, Reply } from './types.ts';

export interface AnswerArgs {
  readonly id: string;
  readonly reply: Reply;
  readonly by: Decider;
  readonly moment: Moment;
}

export type AnswerResult =
  | { readonly ok: true; readonly row: ApprovalRow; readonly expired: readonly ApprovalRow[] }
  | {
      readonly ok: false;
      readonly reason: 'already_decided' | 'expired' | 'word' | 'too_much' | 'operator_only';
      readonly row: ApprovalRow;
      readonly expired: readonly ApprovalRow[];
    }
  | { readonly ok: false; readonly reason: 'not_found'; readonly expired: readonly ApprovalRow[] };

const decideRow = statement<{
  id: string;
  state: string;
  at: number;
  up: number;
  by: string;
  note: string | null;
  opens: string | null;
}>((db, p) =>
  db
    .updateTable('approvals')
    .set({ state: p.state, decided_at: p.at, decided_up: p.up, decided_by: p.by, note: p.note, opens: p.opens })
    .where('id', '=', p.id)
    .where('state', '=', 'pending'),
);

const setCard = statement<{ id: string; card: string }>((db, p) =>
  db.updateTable('approvals').set({ card: p.card }).where('id', '=', p.id).where('state', '=', 'pending'),
);

/** Channels that only the person who owns this Writ home reaches. A host may answer a form by itself. */
const OPERATOR: ReadonlySet<Decider['channel']> = new Set(['terminal', 'page']);

export function answer(session: Session, { id, reply, by, moment }: AnswerArgs): AnswerResult {
  const expired = sweep(session, moment);
  const row = rowOf(session, id);
  if (row === undefined) return { ok: false, reason: 'not_found', expired };
  if (row.state !== 'pending') {
    return { ok: false, reason: row.state === 'expired' ? 'expired' : 'already_decided', row, expired };
  }
  const refuse = (reason: 'word' | 'too_much' | 'operator_only', as: ApprovalRow = row): AnswerResult => ({
    ok: false,
    reason,
    row: as,
    expired,
  });
  const card = JSON.parse(row.card) as Card;
  let opens: readonly Opening[] | undefined;
  if (reply.decision === 'approve') {
    const offered = JSON.parse(row.offered) as readonly Opening[];
    opens = leftOpen(reply.opens, card.opens, offered);
    if (opens === undefined) return refuse('too_much');
    if (opens.some(({ type }) => type === 'uncontained') && !OPERATOR.has(by.channel)) return refuse('operator_only');
    // Looked at again now: many questions may have been opened before the first of them was approved.
    const word = card.word ?? wordFor(session, card.effects, moment);
    if (word !== undefined && reply.word?.trim().toLowerCase() !== word) {
      if (card.word === undefined) setCard.run(session, { id, card: JSON.stringify({ ...card, word }) });
      return refuse('word', rowOf(session, id));
    }
  }
  const changed = decideRow.run(session, {
    id,
    state: reply.decision === 'approve' ? 'approved' : 'denied',
    at: moment.at,
    up: moment.up,
    by: JSON.stringify(by),
    note: reply.note ?? null,
    opens: opens === undefined ? null : JSON.stringify(opens),
  });
  const after = rowOf(session, id) ?? row;
  return changed === 1 ? { ok: true, row: after, expired } : { ok: false, reason: 'already_decided', row: after, expired };
}

const markUsed = statement<{ id: string; digest: string; at: number }>((db, p) =>
  db
    .insertInto('approvals_used')
    .values({ id: p.id, digest: p.digest, used_at: p.at })
    .onConflict((oc) => oc.doNothing()),
);
const setUsed = statement<{ id: string; digest: string }>((db, p) =>
  db.updateTable('approvals').set({ state: 'used' }).where('id', '=', p.id).where('digest', '=', p.digest).where('state', '=', 'approved'),
);

/** Takes it: the mark first, in a table that nothing else empties, then the state. Both or neither. */
export function use(
  session: Session,
  { id, digest, moment }: { readonly id: string; readonly digest: string; readonly moment: Moment },
): ApprovalRow | undefined {
  const row = rowOf(session, id);
  if (row?.state !== 'approved' || row.digest !== digest || isOver(row, moment)) return undefined;
  if (markUsed.run(session, { id, digest, at: moment.at }) !== 1) return undefined;
  return setUsed.run(session, { id, digest }) === 1 ? rowOf(session, id) : undefined;
}

const setTaken = statement<{ id: string }>((db, p) =>
  db.updateTable('approvals').set({ taken: 1 }).where('id', '=', p.id).where('state', 'in', ['denied', 'expired']),
);

export function taken(session: Session, { id }: { readonly id: string }): void {
  setTaken.run(session, { id });
}
