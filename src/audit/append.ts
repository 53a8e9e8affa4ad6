import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import { type Session, statement, writeOfMany } from '../store/index.ts';
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

/** Adds rows to chains, opening a chain first where needed. The head is read and moved once for all rows of a chain that follow each other. */
export const append = writeOfMany((session, rows: readonly AppendArgs[]): readonly Appended[] => {
  const appended: Appended[] = [];
  let at: Head | undefined;
  for (const row of rows) {
    if (row.chain !== at?.chain) {
      if (at !== undefined) moveHead.run(session, at);
      at = headOf(session, row);
    }
    at = follow(session, at, row.bytes);
    appended.push({ seq: at.seq, hash: hex(at.hash) });
  }
  if (at !== undefined) moveHead.run(session, at);
  return appended;
});

/** The last row of a chain, and how many bytes it has grown by since its head was stored. */
type Head = { readonly chain: string; readonly seq: number; readonly hash: Uint8Array; readonly size: number };

function headOf(session: Session, { chain, organization, opening }: AppendArgs): Head {
  const { head_seq, head_hash } = head.get(session, { chain }) ?? openChain(session, chain, organization, opening);
  return { chain, seq: head_seq, hash: head_hash, size: 0 };
}

function follow(session: Session, { chain, seq, hash: before, size }: Head, bytes: string): Head {
  const hash = rowHash(before, bytes);
  insertRow.run(session, { chain, seq: seq + 1, bytes, hash });
  return { chain, seq: seq + 1, hash, size: size + Buffer.byteLength(bytes) };
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
