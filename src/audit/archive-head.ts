import type { KeyObject } from 'node:crypto';
import type { SigningKey } from './key.ts';
import { bodyOf, lineSignatureHolds, signLine } from './signed-line.ts';

const CONTEXT = 'writ-audit-archive-v1';

/** What one archive holds of one chain: rows `first` to `last`, all covered by a checkpoint. */
export interface ArchivedRange {
  readonly first: number;
  readonly last: number;
  /** The hash of row `first - 1` (64 zeros before row 0) and that of row `last`. */
  readonly before: string;
  readonly after: string;
}

/** What an archive file holds, signed with the key of the checkpoints. It stays in the database when the rows leave it. */
export interface ArchiveBody {
  readonly v: 1;
  /** 0, 1, 2 ... in the Writ home. */
  readonly seq: number;
  /** SHA-256 of the head before; null in the first. */
  readonly prev: string | null;
  readonly organization: string;
  readonly at: number;
  /** Fingerprint of the signing key. */
  readonly key: string;
  /** Name in audit/archive, its length and SHA-256, compressed as it is. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  /** Times of the oldest and the newest event. */
  readonly oldest_at: number;
  readonly newest_at: number;
  readonly chains: Readonly<Record<string, ArchivedRange>>;
}

export interface ArchiveHead {
  readonly body: ArchiveBody;
  readonly line: string;
}

export function signArchive(body: ArchiveBody, key: SigningKey): ArchiveHead {
  return { body, line: signLine(CONTEXT, body, key) };
}

export function archiveSignatureHolds({ line }: ArchiveHead, key: KeyObject): boolean {
  return lineSignatureHolds(CONTEXT, line, key);
}

/** The head of a line, or undefined when it isn't one, byte for byte as we write them. */
export function parseArchive(line: string): ArchiveHead | undefined {
  const body = bodyOf(line);
  return body !== undefined && isBody(body) ? { body, line } : undefined;
}

/** The number in the name of an archive file; undefined for any other name. A name never holds a path. */
export function archiveNumber(file: string): number | undefined {
  const number = /^(\d{6,15})\.jsonl\.gz$/.exec(file)?.[1];
  return number === undefined ? undefined : Number(number);
}

export function archiveName(number: number): string {
  return `${String(number).padStart(6, '0')}.jsonl.gz`;
}

function isBody(value: Record<string, unknown>): value is Record<string, unknown> & ArchiveBody {
  const { v, organization, seq, prev, at, key, file, bytes, sha256, rows, oldest_at, newest_at, chains } = value;
  return (
    v === 1 &&
    [seq, at, bytes, rows].every(Number.isSafeInteger) &&
    [oldest_at, newest_at].every(Number.isFinite) &&
    [organization, key, sha256].every((text) => typeof text === 'string') &&
    (prev === null || typeof prev === 'string') &&
    typeof file === 'string' &&
    archiveNumber(file) !== undefined &&
    typeof chains === 'object' &&
    chains !== null &&
    Object.values(chains).every(isRange)
  );
}

function isRange(value: Partial<Record<keyof ArchivedRange, unknown>> | null): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { first, last, before, after } = value;
  return Number.isSafeInteger(first) && Number.isSafeInteger(last) && typeof before === 'string' && typeof after === 'string';
}
