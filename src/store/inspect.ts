import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from './migrations.ts';
import type { Session } from './statement.ts';

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';

/**
 * What is wrong with the database as a file, in words; undefined when nothing is. Looks at every page, at every index against its
 * table, and at the schema: a trigger or view that somebody added could change what is stored or shown from then on.
 */
export function databaseProblem(session: Session): string | undefined {
  try {
    const [integrity] = session.all('PRAGMA integrity_check(1)', []) as { integrity_check: string }[];
    if (integrity?.integrity_check !== 'ok') return `SQLite finds it damaged: ${integrity?.integrity_check}`;
  } catch (thrown) {
    return `SQLite can't read all of it: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
  const expected = expectedSchema();
  const found = (session.all(SCHEMA, []) as object[]).map((row) => JSON.stringify(row));
  const added = found.find((row) => !expected.includes(row));
  if (added !== undefined) return `its structure was changed: ${added} doesn't belong there`;
  const gone = expected.find((row) => !found.includes(row));
  if (gone !== undefined) return `its structure was changed: ${gone} is gone`;
  return undefined;
}

function expectedSchema(): string[] {
  const fresh = new DatabaseSync(':memory:');
  try {
    for (const statements of MIGRATIONS) for (const sql of statements) fresh.exec(sql);
    return fresh
      .prepare(SCHEMA)
      .all()
      .map((row) => JSON.stringify(row));
  } finally {
    fresh.close();
  }
}
