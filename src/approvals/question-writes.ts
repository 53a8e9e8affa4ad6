import type { Owner } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';
import { wordFor } from './friction.ts';
import { type ApprovalRow, rowOf } from './rows.ts';
import { sweep, tidy } from './sweep.ts';
import { ATTACH_MS, LIFE_MS, type Moment } from './times.ts';
import type { Card } from './types.ts';

/** Questions of one agent that may be open at once; more are refused, since no person could look at them all. */
const MOST_PENDING = 64;

export interface OpenArgs {
  /** For a new one. */
  readonly id: string;
  readonly caller: string;
  readonly digest: string;
  readonly owner: Owner;
  readonly card: Card;
  /** JSON. */
  readonly offered: string;
  readonly asked_by: string;
  readonly moment: Moment;
}

export interface Opened {
  readonly row: ApprovalRow;
  readonly attached: boolean;
  /** Whose time was over just now: to be recorded by the caller. */
  readonly expired: readonly ApprovalRow[];
}

const sameQuestion = statement<{ digest: string; boot: string; since: number }, ApprovalRow>(
  (db, p) =>
    db
      .selectFrom('approvals')
      .selectAll()
      .where('digest', '=', p.digest)
      .where('boot', '=', p.boot)
      .where((eb) =>
        eb.or([
          eb('state', '=', 'pending'),
          eb.and([eb('state', 'in', ['approved', 'denied', 'expired']), eb('taken', '=', 0), eb('decided_up', '>', p.since)]),
        ]),
      )
      .orderBy('created_at', 'desc')
      .limit(1) as never,
);

const pendingOf = statement<{ organization: string; agent: string }, { n: number }>((db, p) =>
  db
    .selectFrom('approvals')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', '=', 'pending')
    .where('organization', '=', p.organization)
    .where('agent', '=', p.agent),
);

const insert = statement<{
  id: string;
  digest: string;
  organization: string;
  agent: string;
  run: string;
  workspace: string;
  card: string;
  offered: string;
  asked_by: string;
  boot: string;
  at: number;
  up: number;
  expires_at: number;
}>((db, p) =>
  db.insertInto('approvals').values({
    id: p.id,
    state: 'pending',
    digest: p.digest,
    organization: p.organization,
    agent: p.agent,
    run: p.run,
    workspace: p.workspace,
    card: p.card,
    offered: p.offered,
    asked_by: p.asked_by,
    boot: p.boot,
    created_at: p.at,
    created_up: p.up,
    expires_at: p.expires_at,
    decided_at: null,
    decided_up: null,
    decided_by: null,
    note: null,
    opens: null,
  }),
);

const join = statement<{ approval: string; caller: string }>((db, p) =>
  db
    .insertInto('approval_callers')
    .values({ approval: p.approval, caller: p.caller })
    .onConflict((oc) => oc.doNothing()),
);
const part = statement<{ approval: string; caller: string }>((db, p) =>
  db.deleteFrom('approval_callers').where('approval', '=', p.approval).where('caller', '=', p.caller),
);
const othersOf = statement<{ approval: string }, { n: number }>((db, p) =>
  db
    .selectFrom('approval_callers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('approval', '=', p.approval),
);
const end = statement<{ id: string; at: number; up: number }>((db, p) =>
  db
    .updateTable('approvals')
    .set({ state: 'withdrawn', decided_at: p.at, decided_up: p.up })
    .where('id', '=', p.id)
    .where('state', '=', 'pending'),
);

/** The question that is there already, or a new one. */
export function open(session: Session, args: OpenArgs): Opened {
  const { id, caller, digest, owner, moment, offered, asked_by } = args;
  const expired = sweep(session, moment);
  tidy(session, moment);
  const found = sameQuestion.get(session, { digest, boot: moment.boot, since: moment.up - ATTACH_MS });
  if (found !== undefined) {
    join.run(session, { approval: found.id, caller });
    return { row: found, attached: true, expired };
  }
  const waiting = pendingOf.get(session, { organization: owner.organization, agent: owner.agent })?.n ?? 0;
  if (waiting >= MOST_PENDING) {
    throw new AppError('busy', `${waiting} questions of this agent are waiting for a person already.`, {
      fix: 'Answer some of them: `writ approvals list` shows them.',
    });
  }
  const word = wordFor(session, args.card.effects, moment);
  const card = JSON.stringify(word === undefined ? args.card : { ...args.card, word });
  const { at, up, boot } = moment;
  insert.run(session, { id, digest, ...owner, card, offered, asked_by, boot, at, up, expires_at: at + LIFE_MS });
  join.run(session, { approval: id, caller });
  const row = rowOf(session, id);
  if (row === undefined) throw new AppError('internal', 'A question that was just stored is not there.');
  return { row, attached: false, expired };
}

export function leave(session: Session, { id, caller }: { readonly id: string; readonly caller: string }): void {
  part.run(session, { approval: id, caller });
}

/** The row when this ended it. */
export function withdraw(
  session: Session,
  { id, caller, moment }: { readonly id: string; readonly caller?: string; readonly moment: Moment },
): ApprovalRow | undefined {
  if (caller !== undefined) part.run(session, { approval: id, caller });
  if ((othersOf.get(session, { approval: id })?.n ?? 0) > 0) return undefined;
  return end.run(session, { id, at: moment.at, up: moment.up }) === 1 ? rowOf(session, id) : undefined;
}
