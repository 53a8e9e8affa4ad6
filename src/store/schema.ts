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

/** One question to a person and its answer (approvals/types.ts). */
interface ApprovalRows {
  id: string;
  state: string;
  digest: string;
  organization: string;
  agent: string;
  run: string;
  workspace: string;
  /** JSON, as it is shown. */
  card: string;
  /** JSON: the openings of the card as they are, for those whose text is masked on it. */
  offered: string;
  asked_by: string;
  /** The boot in which it was asked, and how long (ms) the machine had been up: time that nobody can set back. */
  boot: string;
  created_at: number;
  created_up: number;
  expires_at: number;
  decided_at: number | null;
  decided_up: number | null;
  decided_by: string | null;
  note: string | null;
  opens: string | null;
  /** 1 once what became of it was told to whoever asked. */
  taken: Generated<number>;
}

/** What was used, once for ever: nothing that happens to the other tables lets it be used again. */
interface ApprovalsUsed {
  id: string;
  digest: string;
  used_at: number;
}

/** Calls that wait for an approval. */
interface ApprovalCallers {
  approval: string;
  caller: string;
}

interface ApprovalChannels {
  id: string;
  kind: string;
  until: number;
}

interface GrantRows {
  id: string;
  organization: string;
  agent: string;
  workspace: string;
  scope: string;
  opens: string;
  approval: string;
  made_at: number;
  made_by: string;
  expires_at: number;
  ended_at: number | null;
  ended_by: string | null;
}

/** Where untrusted text that reached the model of a Run came from. */
interface RunOrigins {
  run: string;
  origin: string;
  at: number;
}

interface RegisteredWorkspaces {
  name: string;
  /** Real path when it was added. */
  path: string;
  added_at: number;
}

interface AgentTokens {
  id: string;
  name: string;
  /** SHA-256 of the whole token. */
  hash: Uint8Array;
  /** JSON list of Workspace names, the primary one first. */
  workspaces: string;
  toolset: string;
  /** 1: questions may be answered through its client. */
  attended: number;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  used_at: number | null;
}

/** The Run that the stateless calls of an agent in a Workspace belong to. */
interface AgentRuns {
  agent: string;
  workspace: string;
  run: string;
  used_at: number;
}

interface OperatorLinks {
  hash: Uint8Array;
  expires_at: number;
}

export interface Tables {
  audit_chains: AuditChains;
  audit_events: AuditEvents;
  audit_checkpoints: AuditCheckpoints;
  audit_archives: AuditArchives;
  workspaces: RegisteredWorkspaces;
  agent_tokens: AgentTokens;
  agent_runs: AgentRuns;
  operator_links: OperatorLinks;
  approvals: ApprovalRows;
  approvals_used: ApprovalsUsed;
  approval_callers: ApprovalCallers;
  approval_channels: ApprovalChannels;
  grants: GrantRows;
  run_origins: RunOrigins;
}

/** Builds queries and runs none: `statement` and `Connection` do that. */
export type Builder = Kysely<Tables>;
