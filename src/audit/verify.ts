import { setImmediate } from 'node:timers/promises';
import { AppError, toAppError } from '../kernel/errors.ts';
import { databaseFile, databaseProblem, openReader, type Reader, type Session, statement } from '../store/index.ts';
import { type ArchiveHead, parseArchive } from './archive-head.ts';
import { allArchives } from './archive-rows.ts';
import { hex } from './chain.ts';
import type { StoredRow } from './chain-walk.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { readCheckpointFile } from './checkpoint-file.ts';
import { allCheckpoints, type CheckpointRow } from './checkpoint-rows.ts';
import { createFindings, type Findings } from './findings.ts';
import { auditDirectory, type PublicKey, readKey } from './key.ts';
import { makeReport, type VerifyReport } from './report.ts';
import { createVerifier, type Verified } from './verifier.ts';
import { countArchives, verifyArchives } from './verify-archives.ts';

/** Rows read at a time: what stands between two looks at the signal and the event loop. */
const PAGE = 1_000;

export interface VerifyOptions {
  readonly signal?: AbortSignal;
  /** The fingerprint that the signing key must have, as noted elsewhere. */
  readonly fingerprint?: string;
}

const firstRows = statement<{ limit: number }, StoredRow>((db, p) =>
  db.selectFrom('audit_events').select(['chain', 'seq', 'bytes', 'hash']).orderBy('chain').orderBy('seq').limit(p.limit),
);

const rowsAfter = statement<{ chain: string; seq: number; limit: number }, StoredRow>((db, p) =>
  db
    .selectFrom('audit_events')
    .select(['chain', 'seq', 'bytes', 'hash'])
    .where((eb) => eb(eb.refTuple('chain', 'seq'), '>', eb.tuple(p.chain, p.seq)))
    .orderBy('chain')
    .orderBy('seq')
    .limit(p.limit),
);

const chainRows = statement<
  Record<never, never>,
  {
    chain: string;
    organization: string;
    head_seq: number;
    head_hash: Uint8Array;
    sealed_seq: number;
    first_seq: number;
    first_hash: Uint8Array;
    size: number;
  }
>((db) => db.selectFrom('audit_chains').selectAll().orderBy('chain'));

/** Every row in the order that a verifier wants, page by page. Call it inside a snapshot. */
export async function* storedRows(session: Session, signal?: AbortSignal): AsyncGenerator<StoredRow> {
  let page = firstRows.all(session, { limit: PAGE });
  while (page.length > 0) {
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    await setImmediate();
    signal?.throwIfAborted();
    page = rowsAfter.all(session, { chain: last.chain, seq: last.seq, limit: PAGE });
  }
}

/**
 * Checks the whole record of a Writ home, while others may be writing to it, and changes nothing. What is wrong with the record is in the
 * report; AppError `store_unavailable` is thrown when it can't be read at all (a newer database, a lock).
 */
export async function verifyAudit(home: string, { signal, fingerprint }: VerifyOptions = {}): Promise<VerifyReport> {
  const directory = auditDirectory(home);
  const findings = createFindings();
  const key = publicKey(directory, findings);
  if (fingerprint !== undefined && key?.fingerprint !== fingerprint) {
    findings.add('foreign_key', `The signing key has the fingerprint ${key?.fingerprint ?? '(no key)'}, not the expected ${fingerprint}`);
  }
  // A line is filed after its row is stored and before the row is marked. So what is in the file now must be in the snapshot taken next,
  // and what the snapshot marks as filed must be in the file when it is read again.
  const before = readCheckpointFile(directory);
  const reader = await openRecord(home);
  if (reader === undefined) {
    if (before !== '' || key !== undefined) findings.add('database_missing', 'There are checkpoints or a key, but the database is gone');
    const nothing = { rows: 0, sealed: 0, chains: new Map() };
    return makeReport({ verified: nothing, checkpoints: 0, archives: countArchives([], () => true), key, findings });
  }
  try {
    return await reader.snapshot(async () => {
      const rows = allCheckpoints.all(reader, {});
      const after = readCheckpointFile(directory);
      const problem = databaseProblem(reader);
      if (problem !== undefined) findings.add('database_damaged', `The database is not sound: ${problem}`);
      checkFile(before, after, rows, findings);
      const checkpoints = parseRows(rows, findings);
      const archives = parseArchives(allArchives.all(reader, {}), findings);
      if (key === undefined && checkpoints.length > 0) {
        findings.add('key_missing', 'audit/key.pem is gone, so no signature can be checked');
      }
      const verifier = createVerifier({ checkpoints, archives, key }, findings);
      const looked = await verifyArchives(directory, archives, verifier, findings, signal);
      for await (const row of storedRows(reader, signal)) verifier.row(row);
      const verified = verifier.finish();
      checkChains(reader, verified, findings);
      return makeReport({ verified, checkpoints: checkpoints.length, archives: looked, key, findings });
    });
  } finally {
    reader.close();
  }
}

/** A key that can't be read must not keep the rows from being checked. */
function publicKey(directory: string, findings: Findings): PublicKey | undefined {
  try {
    return readKey(directory)?.public;
  } catch (thrown) {
    findings.add('key_missing', toAppError(thrown).message.replace(/\.$/, ''));
    return undefined;
  }
}

/** The reader, or undefined where nothing was ever recorded. */
async function openRecord(home: string): Promise<Reader | undefined> {
  try {
    return await openReader(databaseFile(home));
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'not_found') return undefined;
    throw thrown;
  }
}

function parseRows(rows: readonly CheckpointRow[], findings: Findings): Checkpoint[] {
  return rows.flatMap((row) => {
    const checkpoint = parseCheckpoint(row.line);
    if (checkpoint?.body.organization === row.organization && checkpoint.body.seq === row.seq) return [checkpoint];
    findings.add('checkpoint_changed', 'is not a checkpoint as Writ writes them', { organization: row.organization, checkpoint: row.seq });
    return [];
  });
}

function parseArchives(rows: readonly { readonly seq: number; readonly line: string }[], findings: Findings): ArchiveHead[] {
  return rows.flatMap(({ seq, line }) => {
    const head = parseArchive(line);
    if (head?.body.seq === seq) return [head];
    findings.add('archive_changed', 'has a head that is not as Writ writes them', { archive: seq });
    return [];
  });
}

/** The table of chains is a shortcut to the last rows; it must say what the rows say. */
function checkChains(session: Session, { chains }: Verified, findings: Findings): void {
  const listed = new Set<string>();
  for (const listing of chainRows.all(session, {})) {
    const { chain, organization, head_seq, head_hash, sealed_seq } = listing;
    listed.add(chain);
    const end = chains.get(chain);
    if (end === undefined) {
      findings.add('chain_missing', `its ${head_seq + 1} rows are gone`, { chain });
    } else if (end.seq < head_seq) {
      findings.add('row_missing', `is missing: the chain went up to row ${head_seq}`, { chain, seq: end.seq + 1 });
    } else if (end.seq > head_seq) {
      findings.add('row_doubled', `stands after the last row that was recorded (${head_seq})`, { chain, seq: head_seq + 1 });
    } else if (end.hash !== hex(head_hash) || end.organization !== organization || end.sealed !== sealed_seq) {
      findings.add('head_changed', 'what is noted about its end is not what its rows and checkpoints say', { chain });
    } else if (listing.first_seq !== end.archived.seq + 1 || hex(listing.first_hash) !== hex(end.archived.hash)) {
      findings.add('head_changed', 'what is noted about its archived rows is not what the archives say', { chain });
    } else if (end.whole && listing.size !== end.size) {
      findings.add('head_changed', 'the noted size of its rows is not their size', { chain });
    }
  }
  for (const chain of chains.keys())
    if (!listed.has(chain)) findings.add('head_changed', 'it has rows but is not listed as a chain', { chain });
}

/** checkpoints.jsonl against the checkpoints in the database, byte for byte. */
function checkFile(before: string, after: string, rows: readonly CheckpointRow[], findings: Findings): void {
  if (!after.startsWith(before)) {
    findings.add('file_damaged', 'audit/checkpoints.jsonl was rewritten while it was being checked');
    return;
  }
  const stored = new Map(rows.map((row) => [`${row.organization} ${row.seq}`, row]));
  const filed = new Set<string>();
  const complete = before.split('\n').length - 1;
  const lines = after.split('\n');
  const unfinished = lines.pop() ?? '';
  for (const [index, line] of lines.entries()) {
    const number = `Line ${index + 1} of audit/checkpoints.jsonl`;
    const body = parseCheckpoint(line)?.body;
    if (body === undefined) {
      findings.add('file_damaged', `${number} is not a checkpoint as Writ writes them`);
      continue;
    }
    const place = `${body.organization} ${body.seq}`;
    const row = stored.get(place);
    if (filed.has(place)) findings.add('checkpoint_doubled', `${number} repeats checkpoint ${body.seq}`);
    else if (row === undefined && index < complete)
      findings.add('checkpoint_missing', `is in checkpoints.jsonl (line ${index + 1}), but not in the database`, {
        organization: body.organization,
        checkpoint: body.seq,
      });
    else if (row !== undefined && row.line !== line)
      findings.add('checkpoint_changed', `is not the same in checkpoints.jsonl (line ${index + 1}) and in the database`, {
        organization: body.organization,
        checkpoint: body.seq,
      });
    // Skipped here and found there: the order of the lines is the order of the numbers.
    else if (body.seq > 0 && !filed.has(`${body.organization} ${body.seq - 1}`))
      findings.add('file_damaged', `${number} (checkpoint ${body.seq}) comes before checkpoint ${body.seq - 1}`);
    filed.add(place);
  }
  for (const row of rows) {
    if (row.filed === 1 && !filed.has(`${row.organization} ${row.seq}`)) {
      findings.add('checkpoint_missing', 'is in the database, but its line in checkpoints.jsonl is gone', {
        organization: row.organization,
        checkpoint: row.seq,
      });
    }
  }
  // A line that a crash left half written is completed by the next seal.
  if (unfinished !== '' && !rows.some((row) => row.filed === 0 && row.line.startsWith(unfinished)) && after === before) {
    findings.add('file_damaged', `The last line of audit/checkpoints.jsonl is cut off or foreign`);
  }
}
