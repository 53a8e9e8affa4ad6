import { AppError } from '../kernel/errors.ts';
import { databaseFile, openReader, type Reader, select } from '../store/index.ts';
import { archivedAction, archivedRow, type OlderArchived, olderArchived, readHeads } from './archived-events.ts';
import { hex } from './chain.ts';
import type { StoredRow } from './chain-walk.ts';
import { auditDirectory } from './key.ts';
import type { AuditEvent, AuditRef } from './types.ts';

/** Events per page: what is given when nothing is asked, and the most that can be asked. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

/** An event as it is in the record. */
export interface RecordedEvent extends AuditEvent {
  readonly ref: AuditRef;
  readonly hash: string;
}

export interface EventFilter {
  /** "action.decided", or "action" for every "action.*". */
  readonly type?: string;
  readonly organization?: string;
  readonly agent?: string;
  readonly run?: string;
  readonly workspace?: string;
  readonly action?: string;
  readonly tool?: string;
  /** Epoch ms: from `since` (included) to `until` (excluded). */
  readonly since?: number;
  readonly until?: number;
}

export interface EventPage {
  /** Newest first. */
  readonly events: readonly RecordedEvent[];
  /** Present when there are older ones that match. */
  readonly next_cursor?: string;
  /** Only on the last page: archives that may hold older ones that match. A list doesn't look into them. */
  readonly archived?: OlderArchived;
}

export interface ShownEvents {
  readonly events: readonly RecordedEvent[];
  /** Archives that may hold more of them and couldn't be read: moved away, or damaged. */
  readonly unread: readonly string[];
}

export interface ListOptions {
  readonly filter?: EventFilter;
  readonly cursor?: string;
  /** 1 to 1,000; 50 when absent. */
  readonly limit?: number;
}

/** One page of events. Throws AppError `invalid_arguments` for a bad cursor or limit. A home without a record has no events. */
export async function listEvents(home: string, { filter = {}, cursor, limit = DEFAULT_LIMIT }: ListOptions = {}): Promise<EventPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new AppError('invalid_arguments', `The limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  }
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const { rows, archived } = await reading(home, { rows: [] }, (reader): { rows: StoredRow[]; archived?: OlderArchived } => {
    let query = reader.db
      .selectFrom('audit_events')
      .select(['chain', 'seq', 'bytes', 'hash'])
      .orderBy('at', 'desc')
      .orderBy('chain', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit + 1);
    const { type, since, until, ...equal } = filter;
    for (const name of ['organization', 'agent', 'run', 'workspace', 'action', 'tool'] as const) {
      const value = equal[name];
      if (value !== undefined) query = query.where(name, '=', value);
    }
    if (type?.includes('.')) query = query.where('type', '=', type);
    // "/" is the character after ".": a range says "starts with" and needs no escaping, as LIKE would.
    else if (type !== undefined) query = query.where('type', '>=', `${type}.`).where('type', '<', `${type}/`);
    if (since !== undefined) query = query.where('at', '>=', since);
    if (until !== undefined) query = query.where('at', '<', until);
    if (after !== undefined) {
      query = query.where((eb) => eb(eb.refTuple('at', 'chain', 'seq'), '<', eb.tuple(after.at, after.chain, after.seq)));
    }
    const found = select<StoredRow>(reader, query);
    const older = found.length > limit ? undefined : olderArchived(readHeads(reader), filter);
    return { rows: found, ...(older === undefined ? {} : { archived: older }) };
  });
  const page = rows.slice(0, limit).map(recorded);
  const last = page.at(-1);
  return rows.length > limit && last !== undefined
    ? { events: page, next_cursor: cursorOf(last) }
    : { events: page, ...(archived === undefined ? {} : { archived }) };
}

/**
 * The event of a reference (`chain:seq`), or every event of an action (`act_...`), oldest first, out of archives too. Throws AppError `not_found` when there is
 * none, `invalid_arguments` when it is neither.
 */
export async function showEvent(home: string, ref: string): Promise<ShownEvents> {
  const place = /^(chn_[0-9a-z]{22}):(\d{1,15})$/.exec(ref);
  if (place === null && !/^act_[0-9a-z]{22}$/.test(ref)) {
    throw new AppError('invalid_arguments', 'An audit event is named by its reference (chn_...:12) or by its action (act_...).', {
      fix: '`writ audit list` prints both.',
    });
  }
  const directory = auditDirectory(home);
  const { rows, unread } = await reading(home, { rows: [], unread: [] }, (reader) => {
    const query = reader.db.selectFrom('audit_events').select(['chain', 'seq', 'bytes', 'hash']);
    if (place !== null) {
      const [chain = '', seq] = [place[1], Number(place[2])];
      const here = select<StoredRow>(reader, query.where('chain', '=', chain).where('seq', '=', seq));
      return here.length > 0 ? { rows: here, unread: [] } : archivedRow(directory, readHeads(reader), chain, seq);
    }
    const here = select<StoredRow>(reader, query.where('action', '=', ref).orderBy('at').orderBy('chain').orderBy('seq').limit(MAX_LIMIT));
    const older = archivedAction(directory, readHeads(reader), ref);
    return { rows: [...older.rows, ...here], unread: older.unread };
  });
  if (rows.length > 0) return { events: rows.map(recorded).toSorted((a, b) => a.at - b.at), unread };
  if (unread.length === 0)
    throw new AppError('not_found', `Nothing is recorded under ${ref}.`, { fix: '`writ audit list` shows what is.' });
  throw new AppError(
    'not_found',
    `What is recorded under ${ref} may be in an archive that can't be read: ${unread.slice(0, 5).join(', ')}.`,
    {
      fix: 'If it was moved away, put it back into audit/archive.',
    },
  );
}

async function reading<T>(home: string, nothing: T, body: (reader: Reader) => T): Promise<T> {
  let reader: Reader;
  try {
    reader = await openReader(databaseFile(home));
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'not_found') return nothing;
    throw thrown;
  }
  try {
    return body(reader);
  } finally {
    reader.close();
  }
}

function recorded({ chain, seq, bytes, hash }: StoredRow): RecordedEvent {
  return { ref: { chain, seq }, hash: hex(hash), ...(JSON.parse(bytes) as AuditEvent) };
}

function cursorOf({ at, ref }: RecordedEvent): string {
  return `${at}.${ref.chain}.${ref.seq}`;
}

function parseCursor(cursor: string): { at: number; chain: string; seq: number } {
  const parts = /^(-?\d{1,16})\.(chn_[0-9a-z]{22})\.(\d{1,15})$/.exec(cursor);
  if (parts === null)
    throw new AppError('invalid_arguments', 'This is not a cursor that a list gave out.', { fix: 'Start again without a cursor.' });
  return { at: Number(parts[1]), chain: parts[2] ?? '', seq: Number(parts[3]) };
}
