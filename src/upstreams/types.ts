/**
 * The words of the gateway: other MCP servers, as Writ's configuration names them, as they are just now, and as the gate and the
 * surfaces see them. Nothing here says how they are reached.
 */

import type { ParamHeader } from '../kernel/json-rpc/param-headers.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** How an upstream is reached. Nothing in it is expanded: `${NAME}` and `${secret:NAME}` are filled in when it is connected. */
export type UpstreamTransport =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly type: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** How a person logs in; false: never. Absent: as the server says. */
      readonly oauth?: UpstreamOAuth | false;
    };

/** What an operator knows about a login before the server is asked. */
export interface UpstreamOAuth {
  /** Registered with the issuer beforehand. */
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** The only issuer that a person is sent to; it may be one of the private network. */
  readonly issuer?: string | undefined;
  /** Where the browser comes back to on this machine, for issuers that want it exact. */
  readonly callback_port?: number | undefined;
  /** Of Google, below `mcp_oauth` of the home; it says client_id and client_secret. */
  readonly keys_file?: string | undefined;
}

export type UpstreamNetwork = 'none' | 'full' | { readonly hosts: readonly string[]; readonly presets: readonly string[] };

/** One entry of `mcp_servers`, checked, with defaults and clamps applied. */
export interface UpstreamSettings {
  readonly name: string;
  readonly source: 'operator' | 'project';
  /** Real path of the project whose file brought it in; only for `project`. */
  readonly project?: string;
  readonly transport: UpstreamTransport;
  readonly enabled: boolean;
  /** For one call; at most 3,600,000. */
  readonly timeout_ms: number;
  readonly connect_timeout_ms: number;
  /** One message of the upstream; at most 64 MiB. */
  readonly max_response_bytes: number;
  /** What a model gets of one result; at most 1,000,000. */
  readonly max_result_chars: number;
  /** Absolute; artifacts are read only below them. */
  readonly artifact_roots: readonly string[];
  /** Names whose values may look like secrets and are passed all the same. */
  readonly env_secrets: readonly string[];
  /** Original names. */
  readonly disabled_tools: readonly string[];
  /** Every tool needs a person's yes before its first use, as tools of a project's upstream do. */
  readonly require_approval: boolean;
  /** A call to it doesn't ask even where untrusted text has been read. */
  readonly low_impact: boolean;
  /** Its annotations are believed. */
  readonly trust_annotations: boolean;
  /** In front of its tools' names; empty: none. */
  readonly prefix: string;
  /** Folders it may see; the rest of the machine is not there for it. */
  readonly roots: readonly { readonly path: string; readonly access: 'read' | 'write' }[];
  readonly network: UpstreamNetwork;
  readonly unix_sockets: readonly string[];
  readonly dev_shm: boolean;
  readonly nested_userns: boolean;
  /** Calls at once. */
  readonly concurrency: number;
  /** Ended when unused for so long; 0: never. */
  readonly idle_stop_ms: number;
}

export const UPSTREAM_STATES = [
  'disabled',
  'needs_approval',
  'needs_install',
  'starting',
  'connected',
  'needs_auth',
  'timeout',
  'failed',
  'quarantined',
] as const;
export type UpstreamState = (typeof UPSTREAM_STATES)[number];

/** One tool as an upstream describes it, byte-faithful but for a cleaned description or title. */
export interface UpstreamTool {
  /** What the upstream calls it. */
  readonly name: string;
  /** What callers see: `<server>__<tool>`, or a stable alias when that is too long. */
  readonly exposed: string;
  readonly server: string;
  /** As it came, unknown members included. */
  readonly definition: JsonObject;
  /** Why it needs a look: cleaned text, contradictory hints. Empty: nothing. */
  readonly flags: readonly string[];
  /** Arguments that HTTP headers repeat; absent: none. */
  readonly mirrored?: readonly ParamHeader[];
  readonly availability: ToolAvailability;
}

export type ToolAvailability =
  | { readonly state: 'enabled' }
  | { readonly state: 'disabled'; readonly reason: string }
  | { readonly state: 'needs_approval'; readonly reason: string };

/** The client that a call came from, as far as an upstream may speak to it in the course of that call. */
export interface Relay {
  /** The least urgent log line that the client wants; absent: it hasn't said. */
  readonly log_level?: string;
  /** The client can be given a task in place of a result. */
  readonly tasks?: boolean;
  /** Something the upstream wants to know: `elicitation/create`, `sampling/createMessage`. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<RelayAnswer>;
  /** Something it says: `notifications/message`, `notifications/elicitation/complete`. */
  tell(method: string, params: JsonObject): void;
  /** How far it is with the call; false where the client didn't ask for that. */
  progress(params: JsonObject): boolean;
}

export type RelayAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** What happens at an upstream between calls, for clients that want to hear it. */
export type Change = { readonly type: 'tools' | 'prompts' | 'resources' } | { readonly type: 'log'; readonly params: JsonObject };

/** An upstream at one moment. */
export interface UpstreamStatus {
  readonly name: string;
  readonly source: 'operator' | 'project';
  readonly project?: string;
  readonly transport: UpstreamTransport['type'];
  readonly state: UpstreamState;
  /** In words, where the state alone doesn't say enough. */
  readonly reason?: string;
  /** Epoch ms of the last change of state. */
  readonly since: number;
  readonly tools: { readonly all: number; readonly enabled: number; readonly disabled: number };
  /** What it says it is. */
  readonly identity?: { readonly name: string; readonly version: string; readonly protocol: string };
  readonly last_error?: string;
  readonly restarts: number;
  /** What came from it and was for nobody: answers that came too late, answers to nothing, and what is no message. */
  readonly dropped: { readonly late: number; readonly unknown: number; readonly noise: number };
}

/** What to do about one that isn't connected, where nobody's yes is missing. */
export function toConnect(name: string, state: UpstreamState): string {
  return state === 'needs_install'
    ? `Install it: writ upstream install ${name}`
    : `\`writ upstream test ${name}\` starts it once and shows what it says.`;
}
