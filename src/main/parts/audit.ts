import { type ArchiveSummary, type AuditLog, archiveNow, createAuditLog, type Retention } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import { selfIdentity } from '../../kernel/self-identity.ts';
import type { Database } from './database.ts';
import { version } from './version.ts';

export interface AuditParts {
  readonly home: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Config['audit'];
}

/** The audit log of this process: a chain of its own in the database of the Writ home. It is closed last, and the database with it. */
export function openAudit({ home, database, clock, logger, config }: AuditParts): AuditLog {
  const writer = { ...selfIdentity(), version };
  const log = createAuditLog({ store: database.store, home, writer, clock, logger, retention: retentionOf(config) });
  return {
    ...log,
    close: async () => {
      try {
        await log.close();
      } finally {
        await database.close();
      }
    },
  };
}

/** Everything that is due leaves the database now, for `writ audit archive`. */
export async function archiveAudit({ home, database, clock, config }: AuditParts, signal?: AbortSignal): Promise<ArchiveSummary> {
  try {
    return await archiveNow({
      store: database.store,
      home,
      clock,
      retention: retentionOf(config),
      ...(signal === undefined ? {} : { signal }),
    });
  } finally {
    await database.close();
  }
}

function retentionOf({ retention_days, retention_bytes }: Config['audit']): Retention {
  return { age: retention_days * 24 * 3_600_000, bytes: retention_bytes };
}
