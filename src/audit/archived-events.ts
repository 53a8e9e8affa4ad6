import type { Session } from '../store/index.ts';
import { readArchive, unpackRows } from './archive-file.ts';
import { type ArchiveHead, parseArchive } from './archive-head.ts';
import { allArchives } from './archive-rows.ts';
import type { StoredRow } from './chain-walk.ts';

/** Archives that are read for one action; its events lie close together in time. */
const MAX_FILES = 20;

/** An action is over, job and all, this long after it was asked for, in ms (a job may run 24 h). */
const LONGEST_ACTION = 48 * 3_600_000;

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** What a list has to say about rows that it doesn't show. */
export interface OlderArchived {
  readonly archives: number;
  readonly rows: number;
  /** Time of the newest event in them. */
  readonly newest_at: number;
}

export function readHeads(session: Session): ArchiveHead[] {
  return allArchives.all(session, {}).flatMap(({ line }) => parseArchive(line) ?? []);
}

/** Archives that may hold events of this time and Organization; undefined when there are none. */
export function olderArchived(
  heads: readonly ArchiveHead[],
  { since, until, organization }: { readonly since?: number; readonly until?: number; readonly organization?: string },
): OlderArchived | undefined {
  const fitting = heads.filter(
    ({ body }) =>
      (since === undefined || body.newest_at >= since) &&
      (until === undefined || body.oldest_at < until) &&
      (organization === undefined || body.organization === organization),
  );
  if (fitting.length === 0) return undefined;
  return {
    archives: fitting.length,
    rows: fitting.reduce((sum, { body }) => sum + body.rows, 0),
    newest_at: fitting.reduce((newest, { body }) => Math.max(newest, body.newest_at), Number.MIN_SAFE_INTEGER),
  };
}

export interface Found {
  readonly rows: readonly StoredRow[];
  /** Archives that may hold more and couldn't be read here, by name. */
  readonly unread: readonly string[];
}

/** The row at a place, out of the archive whose head lists it. */
export function archivedRow(directory: string, heads: readonly ArchiveHead[], chain: string, seq: number): Found {
  const holder = heads.find(({ body }) => {
    const range = Object.hasOwn(body.chains, chain) ? body.chains[chain] : undefined;
    return range !== undefined && range.first <= seq && seq <= range.last;
  });
  return holder === undefined ? { rows: [], unread: [] } : readFrom(directory, [holder], (row) => row.chain === chain && row.seq === seq);
}

/** Rows of an action, out of the archives that its id's time points at. */
export function archivedAction(directory: string, heads: readonly ArchiveHead[], action: string): Found {
  const at = timeOf(action);
  const fitting = heads.filter(({ body }) => body.newest_at >= at && body.oldest_at <= at + LONGEST_ACTION);
  const found = readFrom(directory, fitting.slice(0, MAX_FILES), ({ bytes }) => JSON.parse(bytes).action === action);
  return { rows: found.rows, unread: [...found.unread, ...fitting.slice(MAX_FILES).map(({ body }) => body.file)] };
}

function readFrom(directory: string, heads: readonly ArchiveHead[], wanted: (row: StoredRow) => boolean): Found {
  const unread: string[] = [];
  const rows = heads.flatMap(({ body }) => {
    const packed = readArchive(directory, body.file);
    const held = typeof packed === 'string' ? undefined : unpackRows(packed);
    if (held === undefined) unread.push(body.file);
    return held?.filter(wanted) ?? [];
  });
  return { rows, unread };
}

/** The epoch ms in an id (kernel/ids.ts). */
function timeOf(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1).slice(0, 10);
  return [...digits].reduce((time, digit) => time * 32 + CROCKFORD.indexOf(digit), 0);
}
