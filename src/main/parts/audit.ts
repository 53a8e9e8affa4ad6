import { type AuditLog, type AuditWrites, createAuditLog } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createStore, databaseFile } from '../../store/index.ts';
import { version } from './version.ts';

/** The audit log of this process: a chain of its own in the database of the Writ home. */
export function openAudit(parts: {
  readonly home: string;
  readonly writer: URL;
  readonly clock: Clock;
  readonly logger: Logger;
}): AuditLog {
  const store = createStore<AuditWrites>({ file: databaseFile(parts.home), entry: parts.writer });
  const log = createAuditLog({ store, home: parts.home, writer: { pid: process.pid, version }, clock: parts.clock, logger: parts.logger });
  return {
    ...log,
    close: async () => {
      try {
        await log.close();
      } finally {
        await store.close();
      }
    },
  };
}
