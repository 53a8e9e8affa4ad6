import { type Session, statement } from '../store/index.ts';
import { answer, taken, use } from './answer-writes.ts';
import { grantWrites } from './grant-writes.ts';
import { leave, open, withdraw } from './question-writes.ts';
import type { ApprovalRow } from './rows.ts';
import { sweep } from './sweep.ts';
import type { Moment } from './times.ts';

const attend = statement<{ id: string; kind: string; until: number }>((db, p) =>
  db
    .insertInto('approval_channels')
    .values({ id: p.id, kind: p.kind, until: p.until })
    .onConflict((oc) => oc.column('id').doUpdateSet({ until: p.until })),
);
const unattend = statement<{ id: string }>((db, p) => db.deleteFrom('approval_channels').where('id', '=', p.id));

const addOrigin = statement<{ run: string; origin: string; at: number }>((db, p) =>
  db
    .insertInto('run_origins')
    .values({ run: p.run, origin: p.origin, at: p.at })
    .onConflict((oc) => oc.doNothing()),
);

/** What approvals do in the writer thread; main/writer-thread.ts hands it over. */
export const approvalWrites = {
  ...grantWrites,
  'approvals.open': open,
  'approvals.answer': answer,
  'approvals.use': use,
  'approvals.taken': taken,
  'approvals.leave': leave,
  'approvals.withdraw': withdraw,
  'approvals.sweep': (session: Session, { moment }: { readonly moment: Moment }): ApprovalRow[] => sweep(session, moment),
  'approvals.attend': (session: Session, args: { readonly id: string; readonly kind: string; readonly until: number }): void =>
    void attend.run(session, args),
  'approvals.unattend': (session: Session, args: { readonly id: string }): void => void unattend.run(session, args),
  'taints.add': (
    session: Session,
    { run, origins, at }: { readonly run: string; readonly origins: readonly string[]; readonly at: number },
  ): void => {
    for (const origin of origins) addOrigin.run(session, { run, origin, at });
  },
} as const;

export type ApprovalWrites = typeof approvalWrites;
