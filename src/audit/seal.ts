import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';
import { hex, sha256Hex } from './chain.ts';
import { signCheckpoint } from './checkpoint.ts';
import { fileLine } from './checkpoint-file.ts';
import { anyCheckpoint, insertCheckpoint, lastCheckpoint, markFiled, unfiledCheckpoints } from './checkpoint-rows.ts';
import { makeKey, readKey, type SigningKey } from './key.ts';

export interface SealArgs {
  readonly organization: string;
  /** The audit folder: key and checkpoint file. */
  readonly directory: string;
  readonly at: number;
  /** A row as this process remembers it. A seal over anything else would vouch for a forgery. */
  readonly remembered: { readonly chain: string; readonly seq: number; readonly hash: string };
}

export interface Sealed {
  readonly checkpoint: number;
  readonly chains: number;
}

const grownChains = statement<{ organization: string }, { chain: string; head_seq: number; head_hash: Uint8Array }>((db, p) =>
  db
    .selectFrom('audit_chains')
    .select(['chain', 'head_seq', 'head_hash'])
    .where('organization', '=', p.organization)
    .whereRef('head_seq', '>', 'sealed_seq')
    .orderBy('chain'),
);

const totals = statement<{ organization: string }, { chains: number; rows: number }>((db, p) =>
  db
    .selectFrom('audit_chains')
    .select((eb) => [eb.fn.countAll<number>().as('chains'), eb.fn.sum<number>(eb('head_seq', '+', 1)).as('rows')])
    .where('organization', '=', p.organization),
);

const markSealed = statement<{ organization: string }>((db, p) =>
  db
    .updateTable('audit_chains')
    .set((eb) => ({ sealed_seq: eb.ref('head_seq') }))
    .where('organization', '=', p.organization)
    .whereRef('head_seq', '>', 'sealed_seq'),
);

const storedHash = statement<{ chain: string; seq: number }, { hash: Uint8Array }>((db, p) =>
  db.selectFrom('audit_events').select('hash').where('chain', '=', p.chain).where('seq', '=', p.seq),
);

const chainStart = statement<{ chain: string }, { first_seq: number; first_hash: Uint8Array }>((db, p) =>
  db.selectFrom('audit_chains').select(['first_seq', 'first_hash']).where('chain', '=', p.chain),
);

/**
 * Signs where every chain of the Organization stands. The write lock that this runs under is the sealer's lease: one process seals at a
 * time, and what one has sealed the next finds done (null). Committed at level `full`, so sealed rows survive a power cut.
 */
export function seal(session: Session, { organization, directory, at, remembered }: SealArgs): Sealed | null {
  if (!isRecorded(session, remembered)) throw rewritten(remembered);
  const grown = grownChains.all(session, { organization });
  if (grown.length === 0) return null;
  const before = lastCheckpoint.get(session, { organization });
  const { chains, rows } = totals.get(session, { organization }) ?? { chains: 0, rows: 0 };
  const key = signingKey(session, directory);
  const { body, line } = signCheckpoint(
    {
      v: 1,
      organization,
      seq: before === undefined ? 0 : before.seq + 1,
      prev: before === undefined ? null : sha256Hex(before.line),
      at,
      key: key.public.fingerprint,
      heads: Object.fromEntries(grown.map((chain) => [chain.chain, { seq: chain.head_seq, hash: hex(chain.head_hash) }])),
      chains,
      rows,
    },
    key,
  );
  insertCheckpoint.run(session, { organization, seq: body.seq, line });
  markSealed.run(session, { organization });
  return { checkpoint: body.seq, chains: grown.length };
}

/** A row that left the database meanwhile was sealed by somebody else before; where its archive ends, its hash is still known here. */
function isRecorded(session: Session, { chain, seq, hash }: SealArgs['remembered']): boolean {
  const stored = storedHash.get(session, { chain, seq });
  if (stored !== undefined) return hex(stored.hash) === hash;
  const start = chainStart.get(session, { chain });
  if (start === undefined || seq >= start.first_seq) return false;
  return seq < start.first_seq - 1 || hex(start.first_hash) === hash;
}

/**
 * Second step, in a transaction of its own after the seal is committed: the line goes into checkpoints.jsonl, then the row says so. A line
 * in the file thus always has its row, a row marked filed always has its line, and a crash in between is told from either being removed.
 */
export function fileCheckpoints(session: Session, { directory }: { readonly directory: string }): number {
  const unfiled = unfiledCheckpoints.all(session, {});
  for (const { organization, seq, line } of unfiled) {
    fileLine(directory, line);
    markFiled.run(session, { organization, seq });
  }
  return unfiled.length;
}

/** A new key only for a new record: beside existing checkpoints it would make them look foreign. */
function signingKey(session: Session, directory: string): SigningKey {
  const key = readKey(directory);
  if (key !== undefined) return key;
  if (anyCheckpoint.get(session, {}) === undefined) return makeKey(directory);
  throw new AppError('store_unavailable', `The audit signing key in ${directory} is gone, though it has signed checkpoints.`, {
    fix: 'Restore audit/key.pem from a backup; nothing new is sealed until then.',
  });
}

function rewritten({ chain, seq }: SealArgs['remembered']): AppError {
  return new AppError('store_unavailable', `Row ${seq} of the audit chain ${chain} is not what this process wrote, so it is not sealed.`, {
    fix: 'Somebody edited the database. Run `writ audit verify` and keep a copy of the Writ home.',
  });
}
