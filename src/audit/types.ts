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

/**
 * The write side. `record` resolves once the row is committed (the decision is awaited before dispatch);
 * `enqueue` returns at once and is committed in order with everything else (the outcome); `flush` waits for both.
 */
export interface AuditLog {
  record(event: AuditEvent): Promise<AuditRef>;
  enqueue(event: AuditEvent): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}
