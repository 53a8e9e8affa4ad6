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

export type AuditWrites = typeof auditWrites;
