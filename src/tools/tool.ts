import type { Owner, WorkspaceBind } from '../execution/types.ts';
import type { AppError } from '../kernel/errors.ts';
import type { Assessment, Decision } from '../policy/types.ts';
import type { Relay } from '../upstreams/types.ts';

/** JSON Schema 2020-12, as it goes over the wire. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Hints as MCP defines them; they must be true. */
export interface ToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Who calls, in what, and how to reach them while it runs. Built by a surface, completed by the gate. */
export interface CallContext {
  readonly owner: Owner;
  readonly action: string;
  readonly toolset: string;
  /** What the program in between calls itself: chooses how long it is kept waiting, never what is opened. */
  readonly client?: string;
  /** The first is the primary one. */
  readonly workspaces: readonly WorkspaceBind[];
  readonly signal: AbortSignal;
  /** A short line about what is happening; dropped when the caller asked for none. */
  progress(message: string): void;
  /** How an upstream reaches the client that calls. */
  readonly relay?: Relay;
  /**
   * What is to happen once the outcome of this call is stored: for evidence that must be kept until then. It never happens when
   * this process ends before; then whoever finds the evidence closes the record.
   */
  whenRecorded(then: () => Promise<void>): void;
}

export interface ToolImage {
  readonly mime_type: string;
  /** base64 */
  readonly data: string;
}

export interface ToolOutput {
  /** Matches the tool's outputSchema. */
  readonly structured: Readonly<Record<string, unknown>>;
  /** The same for a model to read. */
  readonly text: string;
  /** Pictures that go with it, for models that can see. */
  readonly images?: readonly ToolImage[];
  /** In place of `structured`, `text` and `images`, which are then empty. */
  readonly foreign?: ForeignResult;
  /** Facts for the audit's outcome row: counts, digests, exit, never content. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Something goes on after the answer: then the outcome row, which names it, is stored before the answer is given. */
  readonly goes_on?: boolean;
  /**
   * Where text that nobody here vouches for came from: `file:/etc/motd`, `web:example.com`. It taints the Run. A call that fails says
   * it as `origins` in the data of its AppError.
   */
  readonly origins?: readonly string[];
  /** It is what this Run has made: whatever reached that Run reaches this one with it. */
  readonly of_run?: string;
}

/** A result as an upstream gave it: content blocks of MCP, of any kind. */
export interface ForeignResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  /** Any JSON since 2026-07-28; an object before. */
  readonly structured?: unknown;
  readonly is_error: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** In place of all of it: the upstream goes on, and this is what it is asked about it by. */
  readonly task?: Readonly<Record<string, unknown>>;
}

/** A call as a person is to see it before saying yes: exact and raw, it is masked and escaped where it is shown. */
export interface ShownCall {
  /** The text that would run, or the arguments, one a line. */
  readonly what: string;
  /** Real and absolute. */
  readonly cwd: string;
  /** The model's own words. */
  readonly description?: string;
}

/**
 * A built-in tool. It knows no surface; the gate calls `parse`, then `assess`, decides, and only then `run`.
 * `run` gets the decision so that it can open exactly what was allowed.
 */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Absent: its results are those of another tool. Clients of the SDK throw away a result without the structured content that a schema promises. */
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** Of an upstream's tool: all of what it says, under the name that is listed. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** It works in no Workspace, and so without one. */
  readonly anywhere?: true;
  /** In no list; called it says why, or is what clients ask for by another method. */
  readonly hidden?: true;
  /** The input, or what is wrong with it in words that name the argument. */
  parse(raw: unknown): { readonly ok: true; readonly input: Input } | { readonly ok: false; readonly problem: string };
  /** What it could do. An AppError where it can't even be judged (a cwd outside the workspace). */
  assess(input: Input, context: CallContext): Assessment | AppError | Promise<Assessment | AppError>;
  /** Only of an assessed input. Absent: the arguments, in the root of the Workspace. */
  show?(input: Input, context: CallContext): ShownCall;
  /** The raw arguments as the audit keeps them, for a tool that is handed the contents of files. Absent: as they are. They may be wrong ones. */
  recorded?(raw: unknown): unknown;
  run(input: Input, context: CallContext, decision: Decision): Promise<ToolOutput>;
}

/** Calls another tool, whose name it is given. */
export const CALL_TOOL = 'call_tool';
