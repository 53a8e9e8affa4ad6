import type { Effect } from '../policy/types.ts';
import { type Session, statement } from '../store/index.ts';
import { FRICTION_MS, type Moment } from './times.ts';
import type { Card } from './types.ts';

/** What a person must type where such approvals follow each other quickly: a word of its own each, so that the hand can't learn one. */
const WORDS: Partial<Record<Effect, string>> = { destructive: 'destroy', credential_access: 'reveal', persistence: 'persist' };

const approvedLately = statement<{ boot: string; since: number }, { card: string }>((db, p) =>
  db
    .selectFrom('approvals')
    .select('card')
    .where('state', 'in', ['approved', 'used'])
    .where('boot', '=', p.boot)
    .where('decided_up', '>', p.since)
    .orderBy('created_at', 'desc')
    .limit(100),
);

/** The word that a yes to this needs now; undefined when nothing grave was approved within the last minute. */
export function wordFor(session: Session, effects: readonly Effect[], { boot, up }: Moment): string | undefined {
  const grave = effects.find((effect) => WORDS[effect] !== undefined);
  if (grave === undefined) return undefined;
  const before = approvedLately.all(session, { boot, since: up - FRICTION_MS });
  const repeated = before.some(({ card }) => (JSON.parse(card) as Card).effects.some((effect) => WORDS[effect] !== undefined));
  return repeated ? WORDS[grave] : undefined;
}
