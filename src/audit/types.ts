/** One fact to record. `data` is JSON, already redacted, and never holds output or content: counts and digests only. */
export interface AuditEvent {
  /** `noun.verb`: "action.decided", "action.finished", "run.recovered", "writ.started" ... */
  readonly type: string;
  readonly at: number;
  readonly organization: string;
  readonly agent?: string;
  readonly run?: string;
  readonly workspace?: string;
  readonly action?: string;
  readonly tool?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where a stored event stands: chain (one per writer process) and sequence number in it. */
export interface AuditRef {
  readonly chain: string;
  readonly seq: number;
}

export interface RecordOptions {
  /** `normal` (default) survives SIGKILL of every process; `full` also a power cut: approvals, grants, jobs. */
  readonly level?: 'normal' | 'full';
  /** Still recorded when the disk is full: cancelling, revoking, closing. */
  readonly essential?: boolean;
}

/**
 * The write side. `record` resolves once the row is committed (the decision is awaited before dispatch) and rejects with AppError
 * (`disk_full`, `store_unavailable`, `busy` when 8,192 writes are pending): then the event is not recorded and nothing may run.
 * `enqueue` returns at once and is committed in order with everything else (the outcome). It is never dropped: what can't be stored
 * stays in memory and is tried again every second, at `flush` and at `close`. Its bound is the number of actions that `record` let in.
 * `stored` is called once it is committed, and not at all when this process ends before. `flush` waits for both and rejects when something still couldn't be stored. `close` flushes and seals; the store stays open.
 */
export interface AuditLog {
  record(event: AuditEvent, options?: RecordOptions): Promise<AuditRef>;
  enqueue(event: AuditEvent, stored?: () => void): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}
