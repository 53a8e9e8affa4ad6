import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';
import { GENESIS, hex, OPENED, rowHash, sha256Hex } from './chain.ts';
import { lastCheckpoint } from './checkpoint-rows.ts';

export interface AppendArgs {
  readonly chain: string;
  readonly organization: string;
  /** The event as canonical JSON: made by the caller, so that it can't change on the way. */
  readonly bytes: string;
  /** Sent until the chain is known to exist. Without it a chain that is not there has been taken away. */
  readonly opening?: { readonly at: number; readonly writer: Readonly<Record<string, unknown>> };
}

export interface Appended {
  readonly seq: number;
  readonly hash: string;
}

const head = statement<{ chain: string }, { head_seq: number; head_hash: Uint8Array }>((db, p) =>
  db.selectFrom('audit_chains').select(['head_seq', 'head_hash']).where('chain', '=', p.chain),
);

const insertRow = statement<{ chain: string; seq: number; bytes: string; hash: Uint8Array }>((db, p) =>
  db.insertInto('audit_events').values({ chain: p.chain, seq: p.seq, bytes: p.bytes, hash: p.hash }),
);

const moveHead = statement<{ chain: string; seq: number; hash: Uint8Array; size: number }>((db, p) =>
  db
    .updateTable('audit_chains')
    .set((eb) => ({ head_seq: p.seq, head_hash: p.hash, size: eb('size', '+', p.size) }))
    .where('chain', '=', p.chain),
);

const insertChain = statement<{ chain: string; organization: string; hash: Uint8Array; size: number }>((db, p) =>
  db.insertInto('audit_chains').values({ chain: p.chain, organization: p.organization, head_seq: 0, head_hash: p.hash, size: p.size }),
);

/** Adds one row to a chain, opening the chain first where needed. Runs in the writer thread. */
export function append(session: Session, { chain, organization, bytes, opening }: AppendArgs): Appended {
  const last = head.get(session, { chain }) ?? openChain(session, chain, organization, opening);
  const seq = last.head_seq + 1;
  const hash = rowHash(last.head_hash, bytes);
  insertRow.run(session, { chain, seq, bytes, hash });
  moveHead.run(session, { chain, seq, hash, size: Buffer.byteLength(bytes) });
  return { seq, hash: hex(hash) };
}

/** Row 0 names the chain, the process that writes it and the newest checkpoint it saw, which ties that checkpoint down too. */
function openChain(
  session: Session,
  chain: string,
  organization: string,
  opening: AppendArgs['opening'],
): { head_seq: number; head_hash: Uint8Array } {
  if (opening === undefined) {
    throw new AppError('store_unavailable', `The audit chain ${chain} of this process is gone from the database.`, {
      fix: 'Somebody replaced or edited the database. Run `writ audit verify`, then restart this `writ` process.',
    });
  }
  const checkpoint = lastCheckpoint.get(session, { organization });
  const bytes = canonicalJson({
    type: OPENED,
    at: opening.at,
    organization,
    data: {
      chain,
      writer: opening.writer,
      after_checkpoint: checkpoint === undefined ? null : { seq: checkpoint.seq, sha256: sha256Hex(checkpoint.line) },
    },
  });
  const hash = rowHash(GENESIS, bytes);
  insertChain.run(session, { chain, organization, hash, size: Buffer.byteLength(bytes) });
  insertRow.run(session, { chain, seq: 0, bytes, hash });
  return { head_seq: 0, head_hash: hash };
}
