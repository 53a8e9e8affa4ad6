import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { ApprovalRecord, AskedBy } from '../approvals/types.ts';
import type { Owner, WorkspaceBind } from '../execution/types.ts';
import type { Gate, GateRequest } from '../gate/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ParamHeader } from '../kernel/json-rpc/param-headers.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Revision } from './revisions.ts';

/** The words of the MCP room: what a composition root hands in, and what it is told about the client. */

/** Self-reported, so good for logs and the audit, never for a decision that opens something. Each at most 200 characters. */
export interface ClientFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** The other side of one request. In the handshake revisions it is the same object for the whole connection. */
export interface Peer {
  readonly revision: Revision;
  readonly client: ClientFacts | undefined;
  /** As declared, unchecked beyond being an object. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The session over HTTP (handshake revisions only), the same after a restart; a Run lives in it. Absent over stdio and in 2026-07-28. */
  readonly session?: string;
  /**
   * The client's `file://` roots as absolute paths. Empty when it declared none, didn't answer within 5 s, or speaks 2026-07-28
   * (which has no request from server to client). Asked once, and again after `notifications/roots/list_changed`.
   */
  roots(): Promise<readonly string[]>;
}

/** On whose behalf and where one request works. */
export interface CallScope {
  readonly owner: Owner;
  readonly workspaces: readonly WorkspaceBind[];
  readonly workspace_problem?: { readonly message: string; readonly fix: string };
  /** The client is known to have no person, whatever it declares: nothing is asked through it. */
  readonly unattended?: boolean;
  readonly client?: NonNullable<GateRequest['client']>;
}

/** One spooled output, or artifact of an upstream, as `resources/list` shows it. */
export interface OutputEntry {
  /** An exec or job id becomes `writ://output/{id}`, one of an artifact `writ://artifact/{id}`. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly bytes?: number;
  /** Default text/plain. */
  readonly mime_type?: string;
}

export type OutputPage = OutputPlace & ({ readonly text: string } | { readonly blob: string });

interface OutputPlace {
  /** Default text/plain. */
  readonly mime_type?: string;
  /** Where it came from, when nobody here vouches for it. */
  readonly origin?: string;
  /** Where to read on; absent at the end. */
  readonly next_cursor?: number;
}

/** Spooled output, already redacted and bounded by whoever implements it; another owner's looks absent. */
export interface Resources {
  list(scope: CallScope): Promise<readonly OutputEntry[]>;
  read(scope: CallScope, id: string, cursor: number, signal: AbortSignal): Promise<OutputPage | undefined>;
}

/** What clients may want to hear without having asked just now. */
export type Change =
  /** That list is another one now. */
  | { readonly type: 'tools' | 'prompts' | 'resources' }
  /** A line of an upstream that belongs to no call. */
  | { readonly type: 'log'; readonly params: Readonly<Record<string, unknown>> };

/** What upstreams offer beside their tools. What is asked of one of them goes through the gate, under these names. */
export interface Foreign {
  readonly tools: { readonly resource: string; readonly prompt: string; readonly completion: string; readonly task: string };
  /** Whether a tool of that name is there by now. */
  has(tool: string): boolean;
  /** Which arguments of the tool that is called so are repeated in HTTP headers. */
  mirrored(tool: string): readonly ParamHeader[];
  resources(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  templates(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  prompts(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** What they say about how they are used. */
  instructions(): string;
  /** Tells when a resource has changed, until the function that it gives is called; undefined: nobody has it, or its server tells nothing. */
  watch(uri: string, told: () => void, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** The least urgent log line that somebody wants; one level serves all clients of an upstream, who get what each asked for. */
  setLevel(level: string): void;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** What any transport needs. */
export interface ServerParts {
  readonly gate: Gate;
  readonly toolset: string;
  readonly server: ServerFacts;
  /** Given to the model by hosts that show it. */
  readonly instructions: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Awaited before tools are listed: upstreams that have never said what they have get a moment for it. Bounded by whoever implements it. */
  catalogueReady?(): Promise<void>;
  /** Tells what happens between requests; clients that may hear it are told. The function it returns ends that. */
  onChange?(listener: (change: Change) => void): () => void;
  /** Asked for every call, after the client is known. A thrown AppError becomes the refusal. */
  scopeOf(peer: Peer): CallScope | Promise<CallScope>;
  /** Texts to tell with the next tool result ("job X ended"); each must be returned once. */
  pendingNotices?(owner: Owner): Promise<readonly string[]>;
  readonly resources?: Resources;
  /** Undefined: there are no upstreams just now; the first may come while a client is connected. */
  foreign?(): Foreign | undefined;
  /** For questions to a person in 2026-07-28; absent: nobody is asked through a client of that revision. */
  readonly signer?: Signer;
  /** The process at the other end of an HTTP connection: what hangs under it may not answer its questions. Absent: under this one. */
  askedBy?(connection: Socket): AskedBy;
  /** The page where a person can answer this question; absent while there is none. */
  approvalUrl?(record: ApprovalRecord): string;
}

export interface StdioParts extends ServerParts {
  readonly input: Readable;
  readonly output: Writable;
  /** How long cancelled calls may take to end after the input has ended. Default 10,000 ms. */
  readonly drain_ms?: number;
}

export interface StdioServer {
  /** Resolves once, never rejects: no call is running any more (or `drain_ms` is over) and what could be written is written. */
  readonly closed: Promise<void>;
  /** Cancels running calls, answers them, and closes. Idempotent. */
  close(): Promise<void>;
}

/** Signs what goes out and must come back unchanged (session ids, `requestState`), with a key that outlives the process. */
export interface Signer {
  sign(text: string): string;
  /** In constant time. */
  verify(text: string, signature: string): boolean;
}

/** Whose HTTP request it is, found out from its credential before it gets here. */
export interface HttpCaller {
  /** The principal: sessions belong to it, and its requests are counted together. */
  readonly agent: string;
  /** What tells endpoints apart (`/mcp`, `/mcp/w/NAME`): a session of one is unknown at another. */
  readonly endpoint: string;
  /** What this principal gets at this endpoint; the same object from request to request while nothing changes, since it is what notices are kept by. */
  readonly parts: ServerParts;
  /** Aborted when the credential is revoked: calls of this request are cancelled, streams end. */
  readonly signal?: AbortSignal;
}

export interface HttpParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly signer: Signer;
  /** Names in the `Host` header that are us, without port (`127.0.0.1`, `localhost`, `[::1]`); any other gets 403. */
  readonly hosts: readonly string[];
  /** Web origins let in beside our own (`https://inspector.example`); a request from any other gets 403. Programs send none. */
  readonly origins: readonly string[];
  /** A client has ended the session of this Run: its calls are cancelled already, and what else it holds can go. */
  runEnded?(run: string): void;
}

export interface McpHandler {
  /** Answers one request of an MCP endpoint; its body must not have been read. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): void;
  /** Refuses new requests, cancels and answers those under way, ends streams; resolves once all of it has ended. */
  close(): Promise<void>;
}
