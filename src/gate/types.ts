import type { Owner, WorkspaceBind } from '../execution/types.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Decision } from '../policy/types.ts';
import type { JsonSchema, ToolAnnotations, ToolOutput } from '../tools/tool.ts';

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
}

export type GateAnswer =
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

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
}

/** The one way to a tool. */
export interface Gate {
  list(toolset: string): readonly ListedTool[];
  call(request: GateRequest): Promise<GateAnswer>;
}
