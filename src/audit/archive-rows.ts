import { type Session, statement } from '../store/index.ts';
import { type ArchiveHead, parseArchive } from './archive-head.ts';

const newest = statement<Record<never, never>, { seq: number; line: string }>((db) =>
  db.selectFrom('audit_archives').select(['seq', 'line']).orderBy('seq', 'desc').limit(1),
);

export const insertArchive = statement<{ seq: number; line: string }>((db, p) =>
  db.insertInto('audit_archives').values({ seq: p.seq, line: p.line }),
);

export const allArchives = statement<Record<never, never>, { seq: number; line: string }>((db) =>
  db.selectFrom('audit_archives').select(['seq', 'line']).orderBy('seq'),
);

/** The newest archive: `damaged` when its head isn't one, so that nothing is built on it. */
export function newestArchive(session: Session): ArchiveHead | 'none' | 'damaged' {
  const row = newest.get(session, {});
  if (row === undefined) return 'none';
  const head = parseArchive(row.line);
  return head?.body.seq === row.seq ? head : 'damaged';
}
