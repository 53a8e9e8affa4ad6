import type { Session } from './statement.ts';

/** Writes nothing, but whoever has awaited it finds a database in its present form. */
export const storeWrites = { 'store.open': (_session: Session, _args: null): null => null } as const;
