import { openConnection } from './connection.ts';
import type { Session } from './statement.ts';

/** A read-only connection of its own: it never blocks the writer and the writer never blocks it. */
export interface Reader extends Session {
  /** Everything that `body` reads is one moment of the database, however long it takes. */
  snapshot<T>(body: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Throws AppError `not_found` while there is no database, `store_unavailable` when it can't be read. */
export async function openReader(file: string): Promise<Reader> {
  const connection = await openConnection(file, 'read');
  return {
    db: connection.db,
    all: connection.all,
    run: connection.run,
    async snapshot(body) {
      connection.exec('BEGIN');
      try {
        return await body();
      } finally {
        if (connection.inTransaction) connection.exec('ROLLBACK');
      }
    },
    close: connection.close,
  };
}
