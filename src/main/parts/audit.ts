import { type ArchiveSummary, type AuditLog, type AuditWrites, archiveNow, createAuditLog, type Retention } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import { selfIdentity } from '../../kernel/self-identity.ts';
import { createStore, databaseFile } from '../../store/index.ts';
import { version } from './version.ts';

export interface AuditParts {
  readonly home: string;
  readonly writer: URL;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Config['audit'];
}

/** The audit log of this process: a chain of its own in the database of the Writ home. */
export function openAudit({ home, writer: entry, clock, logger, config }: AuditParts): AuditLog {
  const store = createStore<AuditWrites>({ file: databaseFile(home), entry });
  const writer = { ...selfIdentity(), version };
  const log = createAuditLog({ store, home, writer, clock, logger, retention: retentionOf(config) });
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

/** Everything that is due leaves the database now, for `writ audit archive`. */
export async function archiveAudit({ home, writer: entry, clock, config }: AuditParts, signal?: AbortSignal): Promise<ArchiveSummary> {
  const store = createStore<AuditWrites>({ file: databaseFile(home), entry });
  try {
    return await archiveNow({ store, home, clock, retention: retentionOf(config), ...(signal === undefined ? {} : { signal }) });
  } finally {
    await store.close();
  }
}

function retentionOf({ retention_days, retention_bytes }: Config['audit']): Retention {
  return { age: retention_days * 24 * 3_600_000, bytes: retention_bytes };
}
