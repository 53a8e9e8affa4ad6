import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import { databaseFile, openReader } from '../store/index.ts';
import { readArchive, unpackRows } from './archive-file.ts';
import { parseArchive } from './archive-head.ts';
import { allArchives } from './archive-rows.ts';
import { hex } from './chain.ts';
import type { StoredRow } from './chain-walk.ts';
import { allCheckpoints } from './checkpoint-rows.ts';
import { auditDirectory, readKey } from './key.ts';
import { storedRows } from './verify.ts';
import { EXPORT_FORMAT } from './verify-export.ts';

export interface ExportSummary {
  readonly rows: number;
  readonly checkpoints: number;
  /** Archives whose rows are inside, and those whose file wasn't there: of these only the signed head is inside. */
  readonly archives: number;
  readonly archives_away: number;
  /** SHA-256 of the whole file. */
  readonly sha256: string;
}

/** Bytes gathered before they are written. */
const CHUNK = 256 * 1024;

/**
 * Writes the whole record as JSON lines: a header with the public key, every checkpoint, every archive's head and rows, every other row (its stored bytes as a
 * string), and an end line with counts and a digest, so that a cut file is known to be cut. Everything needed to check it is inside; `verifyExport` does, without a Writ home.
 * Throws AppError `invalid_arguments` when `out` exists already, `not_found` when nothing was recorded yet.
 */
export async function exportAudit(
  home: string,
  out: string,
  { now, signal }: { readonly now: number; readonly signal?: AbortSignal },
): Promise<ExportSummary> {
  const reader = await openReader(databaseFile(home));
  try {
    const key = readKey(auditDirectory(home))?.public;
    const file = await openNew(out);
    const digest = createHash('sha256');
    let waiting = '';
    const put = async (line: object): Promise<void> => {
      waiting += `${canonicalJson(line)}\n`;
      if (waiting.length >= CHUNK) await drain();
    };
    const drain = async (): Promise<void> => {
      digest.update(waiting);
      await file.writeFile(waiting);
      waiting = '';
    };
    try {
      return await reader.snapshot(async () => {
        await put({
          type: 'header',
          format: EXPORT_FORMAT,
          version: 1,
          exported_at: now,
          public_key: key?.text ?? null,
          fingerprint: key?.fingerprint ?? null,
        });
        const checkpoints = allCheckpoints.all(reader, {});
        for (const { line } of checkpoints) await put({ type: 'checkpoint', line });
        let rows = 0;
        const putRow = async ({ chain, seq, bytes, hash }: StoredRow): Promise<void> => {
          await put({ type: 'row', chain, seq, bytes, hash: hex(hash) });
          rows += 1;
        };
        const archives = { inside: 0, away: 0 };
        const heads = allArchives.all(reader, {});
        // All heads before any row: what the first row has to follow from is known then.
        for (const { line } of heads) await put({ type: 'archive', line });
        for (const { seq, line } of heads) {
          signal?.throwIfAborted();
          const held = archivedRows(auditDirectory(home), line);
          archives[held === undefined ? 'away' : 'inside'] += 1;
          if (held === undefined) continue;
          await put({ type: 'archived', seq, rows: held.length });
          for (const row of held) await putRow(row);
        }
        for await (const row of storedRows(reader, signal)) await putRow(row);
        await drain();
        await put({ type: 'end', rows, checkpoints: checkpoints.length, sha256: digest.copy().digest('hex') });
        await drain();
        await file.sync();
        const counts = { rows, checkpoints: checkpoints.length, archives: archives.inside, archives_away: archives.away };
        return { ...counts, sha256: digest.digest('hex') };
      });
    } finally {
      await file.close();
    }
  } finally {
    reader.close();
  }
}

/** Undefined: moved away. A spoilt file gives what can be read of it, down to nothing, so that the export's check names what is missing. */
function archivedRows(directory: string, line: string): StoredRow[] | undefined {
  const file = parseArchive(line)?.body.file;
  const packed = file === undefined ? 'absent' : readArchive(directory, file);
  if (packed === 'absent') return undefined;
  return packed === 'unreadable' ? [] : (unpackRows(packed) ?? []);
}

async function openNew(out: string): Promise<Awaited<ReturnType<typeof open>>> {
  try {
    return await open(out, 'wx', 0o600);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') {
      throw new AppError('invalid_arguments', `${out} exists already; an export never overwrites.`, {
        fix: 'Give another name, or remove it.',
      });
    }
    throw thrown;
  }
}
