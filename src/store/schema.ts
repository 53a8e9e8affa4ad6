import type { ColumnType, Generated, Kysely } from 'kysely';

/** Computed by SQLite from the stored bytes: readable, never written. */
type Computed<T> = ColumnType<T, never, never>;

/** One chain of audit rows: what one writer process recorded for one Organization. */
interface AuditChains {
  chain: string;
  organization: string;
  /** The last row. Moved in the transaction that appends it. */
  head_seq: number;
  head_hash: Uint8Array;
  /** The last row that a checkpoint covers; -1 while none does. */
  sealed_seq: Generated<number>;
  /** The first row that is still here; those before it are archived. One past the head when all are. */
  first_seq: Generated<number>;
  /** The hash of the row before that one; 32 zero bytes before row 0. */
  first_hash: Generated<Uint8Array>;
  /** UTF-8 bytes of the chain's rows that are here. */
  size: Generated<number>;
}

/**
 * Nothing here can disagree with what was hashed: `bytes` is the record, and the columns that lists filter by are computed from it.
 */
interface AuditEvents {
  chain: string;
  seq: number;
  bytes: string;
  hash: Uint8Array;
  at: Computed<number>;
  type: Computed<string>;
  organization: Computed<string>;
  agent: Computed<string | null>;
  run: Computed<string | null>;
  workspace: Computed<string | null>;
  action: Computed<string | null>;
  tool: Computed<string | null>;
}

interface AuditCheckpoints {
  organization: string;
  seq: number;
  /** The signed line, byte for byte as in checkpoints.jsonl. */
  line: string;
  /** 1 once the line was seen on disk in checkpoints.jsonl. */
  filed: Generated<number>;
}

interface AuditArchives {
  seq: number;
  /** The signed head of an archive file (audit/archive.ts). */
  line: string;
}

export interface Tables {
  audit_chains: AuditChains;
  audit_events: AuditEvents;
  audit_checkpoints: AuditCheckpoints;
  audit_archives: AuditArchives;
}

/** Builds queries and runs none: `statement` and `Connection` do that. */
export type Builder = Kysely<Tables>;
