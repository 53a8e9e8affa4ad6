import { type Session, statement } from '../store/index.ts';
import { rowHash, sameHash } from './chain.ts';
import type { StoredRow } from './chain-walk.ts';

/** One step moves at most this much, because it holds the write lock meanwhile: about 40 ms of work for rows of 500 bytes. */
const STEP_ROWS = 1_000;
const STEP_BYTES = 1024 * 1024;
const STEP_CHAINS = 200;

/** Rows read at a time: with the longest rows there are, about 3 MiB. */
const PAGE = 50;

/** How much later than due the work in the background begins, so that archives hold a day or a step and not a minute. */
const SLACK_AGE = 24 * 3_600_000;
const SLACK_BYTES = STEP_BYTES;

export interface Retention {
  /** Rows of events older than this, in ms, are archived ... */
  readonly age: number;
  /** ... and the oldest ones while the rows in the database are more bytes than this. */
  readonly bytes: number;
}

/** Rows that belong into one archive: one Organization's, chain by chain, each from its first row in the database on. */
export interface Due {
  readonly organization: string;
  readonly chains: readonly DueChain[];
  /** Chains whose rows aren't what was recorded. They stay where they are: an archive's signature would vouch for them. */
  readonly refused: readonly string[];
}

export interface DueChain {
  readonly chain: string;
  readonly before: Uint8Array;
  readonly rows: readonly StoredRow[];
}

type Row = StoredRow & { readonly at: number };

const oldest = statement<Record<never, never>, { at: number }>((db) => db.selectFrom('audit_events').select('at').orderBy('at').limit(1));

const totalSize = statement<Record<never, never>, { size: number | null }>((db) =>
  db.selectFrom('audit_chains').select((eb) => eb.fn.sum<number>('size').as('size')),
);

/** Sealed chains by the time of their first row here. */
const candidates = statement<
  { before: number; limit: number },
  { chain: string; organization: string; first_seq: number; first_hash: Uint8Array; sealed_seq: number }
>((db, p) =>
  db
    .selectFrom('audit_chains as c')
    .innerJoin('audit_events as e', (join) => join.onRef('e.chain', '=', 'c.chain').onRef('e.seq', '=', 'c.first_seq'))
    .select(['c.chain', 'c.organization', 'c.first_seq', 'c.first_hash', 'c.sealed_seq'])
    .whereRef('c.first_seq', '<=', 'c.sealed_seq')
    .where('e.at', '<', p.before)
    .orderBy('e.at')
    .orderBy('c.chain')
    .limit(p.limit),
);

const rowsFrom = statement<{ chain: string; seq: number; limit: number }, Row>((db, p) =>
  db
    .selectFrom('audit_events')
    .select(['chain', 'seq', 'bytes', 'hash', 'at'])
    .where('chain', '=', p.chain)
    .where('seq', '>=', p.seq)
    .orderBy('seq')
    .limit(p.limit),
);

/** What should leave the database now, at most one step of it; undefined when nothing can. */
export function findDue(session: Session, retention: Retention, now: number, promptly: boolean): Due | undefined {
  const cutoff = now - retention.age;
  const first = oldest.get(session, {});
  const byAge = first !== undefined && first.at < cutoff - (promptly ? 0 : SLACK_AGE) ? gather(session, cutoff, STEP_BYTES) : undefined;
  if (byAge !== undefined && byAge.chains.length > 0) return byAge;
  const tooMuch = (totalSize.get(session, {})?.size ?? 0) - retention.bytes;
  if (tooMuch <= (promptly ? 0 : SLACK_BYTES)) return byAge;
  return gather(session, Number.MAX_SAFE_INTEGER, Math.min(STEP_BYTES, tooMuch)) ?? byAge;
}

function gather(session: Session, before: number, bytes: number): Due | undefined {
  const found = candidates.all(session, { before, limit: STEP_CHAINS });
  const organization = found[0]?.organization;
  if (organization === undefined) return undefined;
  const chains: DueChain[] = [];
  const refused: string[] = [];
  const room = { rows: STEP_ROWS, bytes };
  for (const candidate of found) {
    if (candidate.organization !== organization) continue;
    if (room.rows <= 0 || room.bytes <= 0) break;
    const rows = takeRows(session, candidate, before, room);
    if (rows === undefined) refused.push(candidate.chain);
    else if (rows.length > 0) chains.push({ chain: candidate.chain, before: candidate.first_hash, rows });
  }
  return { organization, chains, refused };
}

/**
 * Rows of one chain up to the first that is too young, not sealed or beyond the room; that one too must follow from the one before it.
 * Undefined when one doesn't. A clock that ran ahead for a while keeps back what comes after, until the size or the time lets it go.
 */
function takeRows(
  session: Session,
  { chain, first_seq, first_hash, sealed_seq }: { chain: string; first_seq: number; first_hash: Uint8Array; sealed_seq: number },
  before: number,
  room: { rows: number; bytes: number },
): StoredRow[] | undefined {
  const taken: StoredRow[] = [];
  let hash = first_hash;
  for (let seq = first_seq; ; ) {
    const page = rowsFrom.all(session, { chain, seq, limit: PAGE });
    for (const { at, ...row } of page) {
      if (row.seq !== seq || !sameHash(rowHash(hash, row.bytes), row.hash)) return undefined;
      if (seq > sealed_seq || at >= before || room.rows <= 0 || room.bytes <= 0) return taken;
      taken.push(row);
      room.rows -= 1;
      room.bytes -= Buffer.byteLength(row.bytes);
      hash = row.hash;
      seq += 1;
    }
    if (page.length < PAGE) return seq > sealed_seq ? taken : undefined;
  }
}
