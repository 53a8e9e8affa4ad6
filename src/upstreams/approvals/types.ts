import type { JsonObject, UpstreamSettings } from '../types.ts';
import type { Difference } from './difference.ts';
import type { PinnedField } from './pin.ts';
import type { UpstreamKey } from './records.ts';

/** `sha256` is that of the pin as it is now: what an answer has to name, and what a call is bound to. */
export type Judgement =
  | { readonly state: 'approved'; readonly sha256: string /** For this process only, by WRIT_APPROVE_MCP=1. */; readonly once?: true }
  /** Nobody answered yet, or the record can't be used. */
  | { readonly state: 'unknown'; readonly sha256: string; readonly reason: string; readonly difference: Difference }
  /** It is not what was approved or seen before. Neither the old nor the new one is used until somebody answers. */
  | { readonly state: 'changed'; readonly sha256: string; readonly reason: string; readonly difference: Difference }
  | { readonly state: 'denied'; readonly sha256: string; readonly reason: string };

/** One tool as hardening let it through, or something else that a server shows to models. */
export interface SeenTool {
  /** Of a tool, its own name. Of other things a name that no tool can have: `prompt:NAME`, `instructions:`. */
  readonly name: string;
  readonly definition: JsonObject;
  /** Hardening wants a person to look at it, whoever brought the upstream in. */
  readonly held: boolean;
  /** What hardening said about it, kept for whoever answers. */
  readonly flags?: readonly string[];
}

export interface ToolJudgement {
  readonly name: string;
  readonly judgement: Judgement;
}

/** What is known of the running upstream besides its settings. */
export interface Backend {
  /** Of the installed package. */
  readonly version?: string;
}

export interface JudgeOptions extends Backend {
  readonly signal?: AbortSignal;
}

/** An answer names the digest that was shown: what changed since is not approved by it. */
export interface ToolAnswer {
  readonly name: string;
  readonly sha256: string;
}

export type Answer = { readonly ok: true } | { readonly ok: false; readonly reason: 'changed' | 'unknown'; readonly message: string };
export interface ToolAnswered {
  readonly name: string;
  readonly answer: Answer;
}

export interface ListedTool {
  readonly name: string;
  readonly state: 'seen' | 'asked' | 'approved' | 'denied' | 'changed';
  /** Epoch ms of the answer, or of the first sight. */
  readonly at: number;
  readonly by?: string;
  /** What an answer has to name. */
  readonly sha256: string;
  readonly schema?: { readonly sha256: string; readonly bytes: number };
  /** What hardening said about it; safe to print. */
  readonly flags: readonly string[];
  /** What a person should see before answering; absent where there is nothing to answer. */
  readonly difference?: Difference;
}

export interface ListedUpstream extends UpstreamKey {
  readonly server?: {
    readonly state: 'approved' | 'denied';
    readonly at: number;
    readonly by: string;
    readonly sha256: string;
    readonly fields: readonly PinnedField[];
  };
  readonly tools: readonly ListedTool[];
}

export type Listed =
  | { readonly ok: true; readonly upstreams: readonly ListedUpstream[] }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

/**
 * Who said yes to which upstream and which tools. Hardening comes first, whatever this answers. Every answer is an audit row before it
 * counts. Faults are AppErrors: `store_unavailable`, `busy`, `disk_full`; then nothing was approved.
 */
export interface UpstreamApprovals {
  /** May it be started? An upstream of the operator's file may, unless somebody denied it. */
  judgeServer(settings: UpstreamSettings, backend?: Backend): Promise<Judgement>;
  /**
   * May its tools be used? In the order given. Pins at first sight what needs no answer, and keeps what waits for one, so that it can be listed and
   * answered by another process.
   */
  judgeTools(settings: UpstreamSettings, tools: readonly SeenTool[], options?: JudgeOptions): Promise<readonly ToolJudgement[]>;
  /** `sha256`: as `judgeServer` gave it. */
  approveServer(settings: UpstreamSettings, answer: Backend & { readonly sha256: string; readonly by: string }): Promise<Answer>;
  approveTools(upstream: UpstreamKey, tools: readonly ToolAnswer[], by: string): Promise<readonly ToolAnswered[]>;
  /** The upstream, or some of its tools. It stays so, whatever they become, until approved or revoked. */
  deny(settings: UpstreamSettings, by: string, tools?: readonly string[]): Promise<void>;
  /** Forgets answers and pins: all of an upstream, or of some tools. False: there were none. */
  revoke(upstream: UpstreamKey, by: string, tools?: readonly string[]): Promise<boolean>;
  list(): Promise<Listed>;
}

export function keyOf(settings: Pick<UpstreamSettings, 'name' | 'source' | 'project'>): UpstreamKey {
  return { project: settings.source === 'operator' ? null : (settings.project ?? ''), name: settings.name };
}
