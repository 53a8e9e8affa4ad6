import type { ApprovalRecord, AskedBy, Reply } from '../approvals/types.ts';
import type { Owner, WorkspaceBind } from '../execution/types.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Decision } from '../policy/types.ts';
import type { Tool, ToolOutput } from '../tools/tool.ts';
import type { Relay } from '../upstreams/types.ts';

/** What a surface hands in: exactly what was asked, by whom, and how to reach them. */
export interface GateRequest {
  /** As spelled by the caller; the gate resolves it. */
  readonly tool: string;
  readonly arguments: unknown;
  readonly owner: Owner;
  /** Empty: no workspace could be chosen; `workspace_problem` says why and what to paste. */
  readonly workspaces: readonly WorkspaceBind[];
  readonly workspace_problem?: { readonly message: string; readonly fix: string };
  readonly toolset: string;
  /** What the program in between says it is: for the record, never for a decision. */
  readonly client?: { readonly name: string; readonly version: string; readonly protocol: string };
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** The process that this very call comes from, looked up when a person is asked; absent: this one. */
  askedBy?(): AskedBy;
  /** How an upstream reaches the client in the course of this call. */
  readonly relay?: Relay;
  /** How the person at the other end of this very call can be asked; absent: not at all. */
  readonly asker?: Asker;
  /** An answer that came back with the call (MRTR): the surface has checked that `approval` is what it gave out for this caller. */
  readonly reply?: { readonly approval: string; readonly reply: Reply | Unreachable };
  /** It came with an answer that isn't one to a question of ours to this caller, and why: refused, and recorded as forged. */
  readonly forged?: string;
}

/** The surface asked and no person answered: refused within 500 ms, a headless host, a broken form. */
export interface Unreachable {
  readonly unreachable: string;
}

export type Asker =
  /** Asks while the call waits (elicitation in the older revisions); the signal ends the question when somebody else was first. */
  | (ByPage & {
      readonly type: 'in_call';
      readonly hold_ms: number;
      ask(record: ApprovalRecord, signal: AbortSignal): Promise<Reply | Unreachable>;
    })
  /** Can only be asked with the answer (2026-07-28): the gate answers `input_required`, the client calls again with a `reply`. */
  | (ByPage & { readonly type: 'with_answer' });

interface ByPage {
  /** The person is sent to our page, where the operator answers; a form may be answered by the program that shows it. */
  readonly page?: true;
  /** The same client, asked by our page: for what isn't asked in a form. */
  readonly on_page?: Asker;
}

export type GateAnswer =
  /** Only for an asker `with_answer`. */
  | { readonly type: 'input_required'; readonly action: string; readonly approval: ApprovalRecord }
  | {
      readonly type: 'result';
      readonly action: string;
      readonly output: ToolOutput;
      readonly decision: Decision;
      readonly notes: readonly string[];
    }
  | {
      readonly type: 'refused';
      readonly action: string;
      readonly code: ErrorCode;
      /** What happened and why. */
      readonly message: string;
      /** What a person does about it. */
      readonly fix?: string;
      /** One sentence for the model. */
      readonly guidance: string;
      readonly decision?: Decision;
    };

export type ListedTool = Pick<Tool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'definition'>;

/** The one way to a tool. */
export interface Gate {
  list(toolset: string): readonly ListedTool[];
  call(request: GateRequest): Promise<GateAnswer>;
}
