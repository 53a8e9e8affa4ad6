import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { readArchive, unpackRows } from './archive-file.ts';
import type { ArchiveHead } from './archive-head.ts';
import type { Findings } from './findings.ts';
import type { Verifier } from './verifier.ts';

/** What is known of the archives after a check. */
export interface ArchivesReport {
  readonly total: number;
  /** Rows in all of them, as their signed heads say. */
  readonly rows: number;
  /** Archives whose file was there and was looked at, row by row. */
  readonly checked: number;
  /** Archives whose file isn't there; their rows were not looked at. At most 20 are named. */
  readonly moved_away: { readonly total: number; readonly rows: number; readonly files: readonly string[] };
}

/** Names given of the archives that aren't there. */
const MAX_NAMES = 20;

/** Gathers what the report says of archives. */
export function countArchives(archives: readonly ArchiveHead[], isThere: (head: ArchiveHead) => boolean): ArchivesReport {
  const away = archives.filter((head) => !isThere(head));
  const rowsOf = (heads: readonly ArchiveHead[]): number => heads.reduce((sum, { body }) => sum + body.rows, 0);
  return {
    total: archives.length,
    rows: rowsOf(archives),
    checked: archives.length - away.length,
    moved_away: { total: away.length, rows: rowsOf(away), files: away.slice(0, MAX_NAMES).map(({ body }) => body.file) },
  };
}

/** Checks every archive file that is there: its digest, then every row of it. One file is in memory at a time. */
export async function verifyArchives(
  directory: string,
  archives: readonly ArchiveHead[],
  verifier: Verifier,
  findings: Findings,
  signal?: AbortSignal,
): Promise<ArchivesReport> {
  const absent = new Set<ArchiveHead>();
  for (const head of archives) {
    await setImmediate();
    signal?.throwIfAborted();
    const { body } = head;
    const at = { archive: body.seq };
    const packed = readArchive(directory, body.file);
    if (packed === 'absent') {
      absent.add(head);
      continue;
    }
    if (packed === 'unreadable') {
      findings.add('archive_changed', `(audit/archive/${body.file}) can't be read as a file`, at);
      continue;
    }
    if (packed.length !== body.bytes || hash('sha256', packed, 'hex') !== body.sha256)
      findings.add('archive_changed', `(audit/archive/${body.file}) is not the file that was signed`, at);
    // A changed file is read all the same, as far as it can be: that names the row.
    const rows = unpackRows(packed);
    if (rows === undefined) findings.add('archive_changed', `(audit/archive/${body.file}) is not an archive as Writ writes it`, at);
    else verifier.archive(head, rows);
  }
  return countArchives(archives, (head) => !absent.has(head));
}
