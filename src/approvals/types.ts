import type { Owner } from '../execution/types.ts';
import type { Effect, Opening } from '../policy/types.ts';

/**
 * The words of asking a person. An Approval is the answer to one exact Action: bound to its digest, used once, and nothing reusable
 * comes of it. A Grant is a remembered answer, made only by a separate choice of the operator.
 */

/** What a person is shown: the real thing, escaped, with secrets masked, never longer than `CARD_BYTES`, cut ends counted. */
export interface Card {
  readonly tool: string;
  /** The exact text or arguments, one line per element; control, bidi and invisible characters shown as escapes. */
  readonly what: string;
  readonly cwd: string;
  readonly workspace: string;
  /** Who asks: the agent, and the program that it says it is. */
  readonly agent: string;
  readonly client?: string;
  /** In the model's own words, never trusted. */
  readonly description?: string;
  readonly effects: readonly Effect[];
  /** Why it asks, one sentence each. */
  readonly reasons: readonly string[];
  readonly opens: readonly Opening[];
  /** Where untrusted text that reached the model in this Run came from; empty when none did. */
  readonly origins: readonly string[];
  /** A yes must bring this word, typed: friction for repeated grave approvals. */
  readonly word?: string;
  /** Remembered answers that may be made of it, mildest first; none for destructive, unknown, credential_access. */
  readonly grants: readonly GrantScope[];
}

export type GrantScope =
  /** This exact command text here. */
  | { readonly type: 'command'; readonly digest: string; readonly text: string }
  /** This program with these leading words here: `npm ci **`. */
  | { readonly type: 'program'; readonly argv: readonly string[] }
  | { readonly type: 'host'; readonly host: string }
  | { readonly type: 'path'; readonly path: string; readonly access: 'read' | 'write' };

/** What may follow what is in `states.ts`. */
export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'withdrawn', 'used'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Who answered, and how they were reached. */
export interface Decider {
  readonly channel: 'elicitation' | 'terminal' | 'page' | 'webhook';
  readonly who: string;
}

export interface ApprovalRecord {
  readonly id: string;
  readonly state: ApprovalState;
  readonly digest: string;
  readonly owner: Owner;
  readonly card: Card;
  /** Absent only in records that don't come from the store. */
  readonly asked_by?: AskedBy;
  readonly created_at: number;
  readonly expires_at: number;
  readonly decided_at?: number;
  readonly decided_by?: Decider;
  /** The person's words to the model. */
  readonly note?: string;
  /** What the person left of `card.opens`; what the yes opens. */
  readonly opens?: readonly Opening[];
}

export interface Question {
  readonly owner: Owner;
  /** Over principal, tool, canonical arguments, cwd, Workspace and policy version: any other call is another question. */
  readonly digest: string;
  readonly card: Card;
  /** `card.opens` as they are, where the card's are masked. Absent: the same. */
  readonly offered?: readonly Opening[];
  readonly asked_by: AskedBy;
  /** The Action it is asked for, for the record: an identical call that attaches is another one. */
  readonly action?: string;
}

/** A process of this boot, never a bare PID. */
export interface ProcessRef {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat. */
  readonly start: string;
}

/** The process the question comes from: its descendants and its host's can't answer it from a terminal. */
export interface AskedBy extends ProcessRef {
  readonly boot_id: string;
  /** The programs that started it for an agent: parent first. */
  readonly hosts?: readonly ProcessRef[];
}

export interface Reply {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  /** What was typed where the card asks for a word. */
  readonly word?: string;
  /** A part of `card.opens`: a person may open less than was asked, and hosts may be edited. Absent: all of it. */
  readonly opens?: readonly Opening[];
}

export type Answered =
  | { readonly ok: true; readonly record: ApprovalRecord }
  /**
   * Somebody else was first, it is over, the typed word is missing (a word may have become due since the card was shown: look at
   * `record.card.word`), more was opened than was asked for, or only the operator may answer (terminal, page): `record` as it stands.
   */
  | {
      readonly ok: false;
      readonly reason: 'already_decided' | 'expired' | 'word' | 'too_much' | 'operator_only';
      readonly record: ApprovalRecord;
    }
  | { readonly ok: false; readonly reason: 'not_found' };

/** Approvals of one Writ home, shared by all its processes: every transition is one compare-and-set in the database. */
export interface Approvals {
  /**
   * The pending question with this digest, or one that was decided within the last 60 s and not taken, or a new one. `attached`: it
   * was there already.
   */
  open(question: Question): Promise<{ readonly record: ApprovalRecord; readonly attached: boolean; readonly caller: string }>;
  /** Resolves when it is no longer pending, or after `ms` with what it is then. Looks at most every 200 ms. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<ApprovalRecord>;
  answer(id: string, reply: Reply, by: Decider): Promise<Answered>;
  /** Takes an approved one, once for ever and durably; false when it isn't approved, was used, has expired or is bound to something else. */
  use(id: string, digest: string): Promise<boolean>;
  /** A denial or expiry was told to the agent: an identical call from now on is a new question. */
  taken(id: string): Promise<void>;
  /** The call no longer waits; the question stays. */
  leave(id: string, caller: string): Promise<void>;
  /** The call no longer wants it: over, unless another call waits for it too. */
  withdraw(id: string, caller?: string): Promise<void>;
  get(id: string): Promise<ApprovalRecord | undefined>;
  list(filter?: { readonly state?: ApprovalState; readonly limit?: number }): Promise<readonly ApprovalRecord[]>;
  /** Ways to reach a person right now beside the connection of the call itself: an open page, `writ approvals watch`, a webhook. */
  liveChannels(): Promise<readonly string[]>;
  /**
   * This process shows questions to a person from now until it is closed (renewed by itself, forgotten 15 s after it dies).
   * `server`: it would show them to whoever opens its page; with a webhook that tells somebody to, that is a channel too.
   */
  attend(channel: 'terminal' | 'page' | 'server'): { readonly ready: Promise<void>; close(): Promise<void> };
  /** Ends what this object keeps going: waits and renewals. */
  close(): Promise<void>;
}

export interface Grant {
  readonly id: string;
  readonly scope: GrantScope;
  /** What it opens at most: what the approval it was made of opened. */
  readonly opens: readonly Opening[];
  /** Only for calls of this agent in this Workspace. */
  readonly agent: string;
  readonly workspace: string;
  readonly made_at: number;
  readonly made_by: Decider;
  readonly expires_at: number;
  /** Revoked then, or seen to be over. */
  readonly revoked_at?: number;
}

export interface Grants {
  /** Of an approved or used approval, one of the scopes its card offers; AppError invalid_arguments for any other. */
  make(approval: ApprovalRecord, scope: GrantScope, ttl_ms: number, by: Decider): Promise<Grant>;
  /** Those that hold now for this agent in this Workspace. */
  active(owner: Owner): Promise<readonly Grant[]>;
  list(filter?: { readonly active?: boolean }): Promise<readonly Grant[]>;
  revoke(id: string, by: Decider): Promise<Grant | undefined>;
}

/** Where untrusted text that reached the model came from, by Run: `host:example.com`, `file:/etc/motd`, `web:...`, `upstream:NAME`. */
export interface Taints {
  /** Resolves once it is stored. */
  add(run: string, origins: readonly string[]): Promise<void>;
  originsOf(run: string): Promise<readonly string[]>;
  /** What one Run has made is read in another: whatever reached the first may speak from it. Looks into the store, where other processes write. */
  carry(from: string, to: string): Promise<void>;
}
