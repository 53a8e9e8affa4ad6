import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type AuditLogParts, type AuditWrites, createAuditLog, shortAuditWrites } from '../../src/audit/index.ts';
import type { AuditEvent, AuditLog } from '../../src/audit/types.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createStore, databaseFile, type Store } from '../../src/store/index.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';

export interface Record_ {
  readonly home: string;
  readonly store: Store<AuditWrites>;
  /** Another log, as another process would have: a chain of its own. */
  log(parts?: Partial<AuditLogParts>): AuditLog;
  dispose(): Promise<void>;
}

export function temporaryHome(): string {
  return mkdtempSync(join(tmpdir(), 'writ-audit-'));
}

export function openRecord(home: string = temporaryHome()): Record_ {
  const store = createStore<AuditWrites>({ file: databaseFile(home), entry: WRITER_THREAD, reserve: 0, here: shortAuditWrites });
  return {
    home,
    store,
    log: (parts) => createAuditLog({ store, home, writer: { pid: process.pid }, clock: systemClock, logger: silentLogger, ...parts }),
    async dispose() {
      await store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function event(data: Record<string, unknown> = {}, more: Partial<AuditEvent> = {}): AuditEvent {
  return { type: 'action.decided', at: 1_790_000_000_000, organization: 'org', data, ...more };
}

/** A copy of a home whose writer is closed, so that one record can be spoilt in many ways. */
export function copyOf(home: string): string {
  const copy = temporaryHome();
  cpSync(home, copy, { recursive: true });
  return copy;
}

export function raw(home: string): DatabaseSync {
  return new DatabaseSync(databaseFile(home), { defensive: false });
}
