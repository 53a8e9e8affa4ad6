import { append } from './append.ts';
import { archive } from './archive.ts';
import { fileCheckpoints, seal } from './seal.ts';

/** What audit does in the writer thread; main/writer-thread.ts hands it over. */
export const auditWrites = {
  'audit.append': append,
  'audit.seal': seal,
  'audit.file': fileCheckpoints,
  'audit.archive': archive,
} as const;

/** Those that take no time and touch nothing but the database. */
export const shortAuditWrites = { 'audit.append': append } as const;

export type AuditWrites = typeof auditWrites;
