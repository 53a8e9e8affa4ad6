import { hash } from 'node:crypto';
import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';
import { type DueChain, findDue, type Retention } from './archive-due.ts';
import { packRows, readArchive, removeArchive, tidyNames, unpackRows, writeArchive } from './archive-file.ts';
import { type ArchiveHead, archiveName, archiveNumber, signArchive } from './archive-head.ts';
import { insertArchive, newestArchive } from './archive-rows.ts';
import { hex, sameHash, sha256Hex } from './chain.ts';
import { readKey, type SigningKey } from './key.ts';

export interface ArchiveArgs {
  /** The audit folder: key and archives. */
  readonly directory: string;
  readonly now: number;
  readonly retention: Retention;
  /** Everything that is due, and not only once a day's or a step's worth has gathered. */
  readonly promptly: boolean;
}

export interface Archived {
  /** The file that was made; absent when only refusals were found. */
  readonly file?: string;
  readonly rows: number;
  /** Chains left in the database because their rows aren't what was recorded. */
  readonly refused: readonly string[];
}

const storedHash = statement<{ chain: string; seq: number }, { hash: Uint8Array }>((db, p) =>
  db.selectFrom('audit_events').select('hash').where('chain', '=', p.chain).where('seq', '=', p.seq),
);

const deleteRows = statement<{ chain: string; last: number }>((db, p) =>
  db.deleteFrom('audit_events').where('chain', '=', p.chain).where('seq', '<=', p.last),
);

const moveFirst = statement<{ chain: string; first: number; hash: Uint8Array; size: number }>((db, p) =>
  db
    .updateTable('audit_chains')
    .set((eb) => ({ first_seq: p.first, first_hash: p.hash, size: eb('size', '-', p.size) }))
    .where('chain', '=', p.chain),
);

/**
 * Moves one step's worth of old, sealed rows into an archive file; null when nothing is due. The file is flushed and named first, then
 * the transaction that this runs in removes the rows and notes the signed head: it commits or it doesn't. A crash before that leaves a
 * file that no head names and whose rows are all still here; the next step removes it. The write lock keeps all others out meanwhile.
 */
export function archive(session: Session, { directory, now, retention, promptly }: ArchiveArgs): Archived | null {
  const due = findDue(session, retention, now, promptly);
  if (due === undefined) return null;
  const { organization, chains, refused } = due;
  const rows = chains.flatMap((chain) => chain.rows);
  if (rows.length === 0) return refused.length === 0 ? null : { rows: 0, refused };

  const before = lastHead(session);
  const key = signingKey(directory);
  const file = freeName(session, directory, before);
  const packed = packRows(rows);
  writeArchive(directory, file, packed);

  const times = rows.map(timeOf);
  const { body, line } = signArchive(
    {
      v: 1,
      seq: before === undefined ? 0 : before.body.seq + 1,
      prev: before === undefined ? null : sha256Hex(before.line),
      organization,
      at: now,
      key: key.public.fingerprint,
      file,
      bytes: packed.length,
      sha256: hash('sha256', packed, 'hex'),
      rows: rows.length,
      oldest_at: Math.min(...times),
      newest_at: Math.max(...times),
      chains: Object.fromEntries(chains.map(rangeOf)),
    },
    key,
  );
  insertArchive.run(session, { seq: body.seq, line });
  for (const { chain, rows: own } of chains) {
    const last = own.at(-1);
    if (last === undefined) continue;
    deleteRows.run(session, { chain, last: last.seq });
    const size = own.reduce((sum, row) => sum + Buffer.byteLength(row.bytes), 0);
    moveFirst.run(session, { chain, first: last.seq + 1, hash: last.hash, size });
  }
  return { file, rows: rows.length, refused };
}

function rangeOf({ chain, before, rows }: DueChain): [string, ArchiveHead['body']['chains'][string]] {
  const first = rows[0]?.seq ?? 0;
  const last = rows.at(-1);
  return [chain, { first, last: last?.seq ?? first, before: hex(before), after: hex(last?.hash ?? before) }];
}

function timeOf({ bytes }: { readonly bytes: string }): number {
  const at: unknown = JSON.parse(bytes).at;
  return typeof at === 'number' ? at : 0;
}

/**
 * A name that was never used. A file beyond the newest head is either what a crash left, and then goes; or it holds what this database
 * doesn't (one restored from a backup, say), and then is never touched.
 */
function freeName(session: Session, directory: string, before: ArchiveHead | undefined): string {
  const named = before === undefined ? -1 : (archiveNumber(before.body.file) ?? -1);
  const highest = tidyNames(directory).reduce((most, name) => Math.max(most, archiveNumber(name) ?? -1), named);
  if (highest === named) return archiveName(named + 1);
  const found = readArchive(directory, archiveName(highest));
  const rows = typeof found === 'string' ? undefined : unpackRows(found);
  const leftOver = rows?.every(({ chain, seq, hash: own }) => {
    const stored = storedHash.get(session, { chain, seq });
    return stored !== undefined && sameHash(stored.hash, own);
  });
  if (leftOver !== true) return archiveName(highest + 1);
  removeArchive(directory, archiveName(highest));
  return archiveName(highest);
}

function lastHead(session: Session): ArchiveHead | undefined {
  const head = newestArchive(session);
  if (head === 'none') return undefined;
  if (head !== 'damaged') return head;
  throw new AppError('store_unavailable', 'The newest archive head in the database is not one that Writ wrote, so nothing is archived.', {
    fix: 'Somebody edited the database. Run `writ audit verify` and keep a copy of the Writ home.',
  });
}

function signingKey(directory: string): SigningKey {
  const key = readKey(directory);
  if (key !== undefined) return key;
  throw new AppError('store_unavailable', `The audit signing key in ${directory} is gone, so nothing is archived.`, {
    fix: 'Restore audit/key.pem from a backup; the rows stay in the database until then.',
  });
}
