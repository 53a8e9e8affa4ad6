import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Builder, Tables } from './schema.ts';

/**
 * Kysely as a compiler only: SQLite is synchronous here, so its promise-based drivers would cost and bring nothing.
 * This is the one file that loads Kysely, and it is imported lazily (see connection.ts).
 */
export function createBuilder(): Builder {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
