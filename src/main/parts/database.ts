import type { ApprovalWrites } from '../../approvals/index.ts';
import { type AuditWrites, shortAuditWrites } from '../../audit/index.ts';
import type { IdentityWrites } from '../../identity/index.ts';
import { toAppError } from '../../kernel/errors.ts';
import { createStore, databaseFile, openReader, type Reader, type Store, type storeWrites } from '../../store/index.ts';

/** Every write that the writer thread knows (main/writer-thread.ts). */
export type AllWrites = typeof storeWrites & AuditWrites & ApprovalWrites & IdentityWrites;

/** The database of the Writ home, shared by all rooms of this process. */
export interface Database {
  readonly store: Store<AllWrites>;
  /** One reading connection, opened at the first call. A database that is missing or of an older form is made ready first. */
  reader(): Promise<Reader>;
  /** After everything that writes was closed. */
  close(): Promise<void>;
}

export function openDatabase(home: string, writer: URL): Database {
  const file = databaseFile(home);
  const store = createStore<AllWrites>({ file, entry: writer, here: shortAuditWrites });
  let opening: Promise<Reader> | undefined;
  const open = async (): Promise<Reader> => {
    try {
      return await openReader(file);
    } catch (thrown) {
      const { code } = toAppError(thrown);
      if (code !== 'not_found' && code !== 'store_unavailable') throw thrown;
      await store.write('store.open', null, { level: 'normal' });
      return openReader(file);
    }
  };
  return {
    store,
    reader() {
      opening ??= open().catch((thrown: unknown) => {
        opening = undefined;
        throw thrown;
      });
      return opening;
    },
    async close() {
      if (opening !== undefined) await opening.then((reader) => reader.close()).catch(() => {});
      await store.close();
    },
  };
}
