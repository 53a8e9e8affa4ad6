import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import { type ArchiveHead, parseArchive } from './archive-head.ts';
import type { StoredRow } from './chain-walk.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { createFindings, type Findings } from './findings.ts';
import { type PublicKey, parsePublicKey } from './key.ts';
import { makeReport, type VerifyReport } from './report.ts';
import { createVerifier, type Verifier } from './verifier.ts';
import type { VerifyOptions } from './verify.ts';
import { countArchives } from './verify-archives.ts';

export const EXPORT_FORMAT = 'writ-audit-export';

/** A longer line is not of an export: the longest row is 64 KiB before quoting. */
const MAX_LINE = 4 * 1024 * 1024;

/** More rows than one archive has (archive-due.ts). */
const MAX_ARCHIVED = 100_000;

/**
 * Checks an export by itself, on any machine. Throws AppError `invalid_arguments` when the file isn't an export at all; what is wrong
 * with the record in it is in the report. Without `fingerprint` it shows only that the file agrees with the key inside it.
 */
export async function verifyExport(file: string, { signal, fingerprint }: VerifyOptions = {}): Promise<VerifyReport> {
  const findings = createFindings();
  const digest = createHash('sha256');
  const checkpoints: Checkpoint[] = [];
  const archives: ArchiveHead[] = [];
  const inside = new Set<ArchiveHead>();
  /** The archive whose rows the next lines are. */
  let open: { readonly head: ArchiveHead; readonly rows: StoredRow[]; readonly wanted: number } | undefined;
  let key: PublicKey | undefined;
  let verifier: Verifier | undefined;
  let rows = 0;
  let number = 0;
  let ended = false;
  // Checkpoints and archive heads come before rows, so the first row starts the check.
  const started = (): Verifier => {
    verifier ??= createVerifier({ checkpoints, archives, key }, findings);
    return verifier;
  };
  const openArchive = (seq: number, wanted: number): boolean => {
    const head = archives.find(({ body }) => body.seq === seq);
    if (head === undefined || inside.has(head) || wanted > MAX_ARCHIVED) return false;
    inside.add(head);
    open = { head, rows: [], wanted };
    closeArchive(false);
    return true;
  };
  const closeArchive = (anyway: boolean): void => {
    if (open === undefined || (open.rows.length < open.wanted && !anyway)) return;
    started().archive(open.head, open.rows);
    open = undefined;
  };

  for await (const line of linesOf(file, signal)) {
    number += 1;
    if (number === 1) {
      key = header(line, file);
      if (fingerprint !== undefined && key?.fingerprint !== fingerprint) {
        findings.add('foreign_key', `The export carries the key ${key?.fingerprint ?? '(none)'}, not the expected ${fingerprint}`);
      }
      digest.update(`${line}\n`);
      continue;
    }
    const parsed = parseLine(line);
    if (parsed === undefined || ended) {
      findings.add('file_damaged', `Line ${number} of the export is not as Writ writes it`);
    } else if (parsed.type === 'checkpoint') {
      const checkpoint = parseCheckpoint(parsed.line);
      if (checkpoint === undefined || verifier !== undefined)
        findings.add('file_damaged', `Line ${number} of the export is not a checkpoint in its place`);
      else checkpoints.push(checkpoint);
    } else if (parsed.type === 'archive') {
      const head = parseArchive(parsed.line);
      if (head === undefined || verifier !== undefined)
        findings.add('file_damaged', `Line ${number} of the export is not the head of an archive in its place`);
      else archives.push(head);
    } else if (parsed.type === 'archived') {
      closeArchive(true);
      if (!openArchive(parsed.seq, parsed.rows))
        findings.add('file_damaged', `Line ${number} of the export begins an archive that has no head or came before`);
    } else if (parsed.type === 'row') {
      rows += 1;
      const row = { chain: parsed.chain, seq: parsed.seq, bytes: parsed.bytes, hash: Buffer.from(parsed.hash, 'hex') };
      if (open === undefined) started().row(row);
      else open.rows.push(row);
      closeArchive(false);
    } else {
      ended = true;
      checkEnd(parsed, { rows, checkpoints: checkpoints.length, sha256: digest.copy().digest('hex') }, findings);
    }
    digest.update(`${line}\n`);
  }
  if (number === 0) throw notAnExport(file);
  closeArchive(true);
  if (!ended) findings.add('file_damaged', `The export is cut off after line ${number}`);
  if (key === undefined && checkpoints.length > 0)
    findings.add('key_missing', 'The export carries no public key, so no signature can be checked');
  const counts = { checkpoints: checkpoints.length, archives: countArchives(archives, (head) => inside.has(head)) };
  return makeReport({ verified: started().finish(), ...counts, key, findings });
}

type Line =
  | { readonly type: 'checkpoint'; readonly line: string }
  | { readonly type: 'archive'; readonly line: string }
  | { readonly type: 'archived'; readonly seq: number; readonly rows: number }
  | { readonly type: 'row'; readonly chain: string; readonly seq: number; readonly bytes: string; readonly hash: string }
  | { readonly type: 'end'; readonly rows: number; readonly checkpoints: number; readonly sha256: string };

function parseLine(line: string): Line | undefined {
  try {
    const value = JSON.parse(line);
    if (canonicalJson(value) !== line) return undefined;
    const { type, chain, seq, bytes, hash, rows, checkpoints, sha256 } = value;
    if ((type === 'checkpoint' || type === 'archive') && typeof value.line === 'string') return value;
    if (type === 'archived' && Number.isSafeInteger(seq) && Number.isSafeInteger(rows)) return value;
    if (
      type === 'row' &&
      typeof chain === 'string' &&
      Number.isSafeInteger(seq) &&
      typeof bytes === 'string' &&
      /^[0-9a-f]{64}$/.test(hash)
    )
      return value;
    if (type === 'end' && Number.isSafeInteger(rows) && Number.isSafeInteger(checkpoints) && typeof sha256 === 'string') return value;
    return undefined;
  } catch {
    return undefined;
  }
}

function header(line: string, file: string): PublicKey | undefined {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line);
    if (canonicalJson(value) !== line) throw notAnExport(file);
  } catch {
    throw notAnExport(file);
  }
  if (value['type'] !== 'header' || value['format'] !== EXPORT_FORMAT) throw notAnExport(file);
  if (value['version'] !== 1) {
    throw new AppError('invalid_arguments', `${file} is an export of version ${value['version']}, which this Writ doesn't know.`, {
      fix: 'Use the Writ that made it, or a newer one.',
    });
  }
  return typeof value['public_key'] === 'string' ? parsePublicKey(value['public_key']) : undefined;
}

function checkEnd(end: Line & { type: 'end' }, seen: { rows: number; checkpoints: number; sha256: string }, findings: Findings): void {
  if (end.rows !== seen.rows || end.checkpoints !== seen.checkpoints) {
    findings.add(
      'file_damaged',
      `The export says it has ${end.rows} rows and ${end.checkpoints} checkpoints, and holds ${seen.rows} and ${seen.checkpoints}`,
    );
  } else if (end.sha256 !== seen.sha256) {
    findings.add('file_damaged', 'The export is not byte for byte what was written');
  }
}

/** Lines without their newline. A last line without one is damage too: it is given out with a mark that no line of ours carries. */
async function* linesOf(file: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', ...(signal === undefined ? {} : { signal }) })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw notAnExport(file);
    yield* lines;
  }
  if (rest !== '') yield `${rest}\0`;
}

function notAnExport(file: string): AppError {
  return new AppError('invalid_arguments', `${file} is not an export of a Writ audit record.`, {
    fix: '`writ audit export FILE` makes one.',
  });
}
