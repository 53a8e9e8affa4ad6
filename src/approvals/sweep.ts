import { type Session, statement } from '../store/index.ts';
import { type ApprovalRow, rowOf } from './rows.ts';
import { isOver, type Moment } from './times.ts';

const DAY = 24 * 3_600_000;

/** Answered questions are kept this long, and at most so many of them: the record of what was decided is the audit. */
const KEPT_MS = 7 * DAY;
const KEPT_ROWS = 10_000;

/** A used mark outlives every approval it could be about by far. */
const USED_KEPT_MS = 400 * DAY;
const ORIGINS_KEPT_MS = 30 * DAY;

const open = statement<Record<never, never>, ApprovalRow>(
  (db) => db.selectFrom('approvals').selectAll().where('state', 'in', ['pending', 'approved']) as never,
);

const expire = statement<{ id: string; state: string; at: number; up: number }>((db, p) =>
  db
    .updateTable('approvals')
    .set({ state: 'expired', decided_at: p.at, decided_up: p.up })
    .where('id', '=', p.id)
    .where('state', '=', p.state),
);

/** Ends every question and every untaken yes whose time is over; the rows that this call ended, as they are then. */
export function sweep(session: Session, { at, boot, up }: Moment): ApprovalRow[] {
  const over = open.all(session, {}).filter((row) => isOver(row, { at, boot, up }));
  return over.flatMap(({ id, state }) => {
    // The moment the answer was looked for counts, so that whoever waits is told within the time an identical call is.
    if (expire.run(session, { id, state, at, up }) !== 1) return [];
    const row = rowOf(session, id);
    return row === undefined ? [] : [row];
  });
}

const removeOld = statement<{ before: number }>((db, p) =>
  db.deleteFrom('approvals').where('created_at', '<', p.before).where('state', 'not in', ['pending', 'approved']),
);

const surplusFrom = statement<Record<never, never>, { created_at: number }>((db) =>
  db.selectFrom('approvals').select('created_at').orderBy('created_at', 'desc').limit(1).offset(KEPT_ROWS),
);

const removeUsed = statement<{ before: number }>((db, p) => db.deleteFrom('approvals_used').where('used_at', '<', p.before));
const removeOrigins = statement<{ before: number }>((db, p) => db.deleteFrom('run_origins').where('at', '<', p.before));
const removeChannels = statement<{ now: number }>((db, p) => db.deleteFrom('approval_channels').where('until', '<', p.now));
const removeCallers = statement<Record<never, never>>((db) =>
  db
    .deleteFrom('approval_callers')
    .where('approval', 'not in', (eb) => eb.selectFrom('approvals').select('id').where('state', 'in', ['pending', 'approved'])),
);

/** Keeps the tables bounded. */
export function tidy(session: Session, { at }: Moment): void {
  removeOld.run(session, { before: at - KEPT_MS });
  const surplus = surplusFrom.get(session, {});
  if (surplus !== undefined) removeOld.run(session, { before: surplus.created_at + 1 });
  removeUsed.run(session, { before: at - USED_KEPT_MS });
  removeOrigins.run(session, { before: at - ORIGINS_KEPT_MS });
  removeChannels.run(session, { now: at });
  removeCallers.run(session, {});
}
