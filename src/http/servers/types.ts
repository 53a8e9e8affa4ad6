import type { UpstreamKey, UpstreamSettings, UpstreamState, UpstreamStatus } from '../../upstreams/index.ts';

/** MCP servers as their operator sees and changes them, on the page and over the HTTP API. Nothing here holds a secret. */

type Notes = readonly { readonly message: string; readonly fix?: string }[];

/** `invalid`: its entry can't be used. `idle`: it may be started, and nobody has had it started in this process. */
export type ServerState = UpstreamState | 'invalid' | 'idle';

export interface ServerRow extends Partial<Omit<UpstreamStatus, 'name' | 'source' | 'state'>> {
  readonly name: string;
  readonly source: 'operator' | 'project';
  readonly state: ServerState;
  readonly enabled: boolean;
  /** How many of its tools wait for a person's answer. */
  readonly waiting: number;
  /** Of its file, checked and masked; absent where the entry is invalid. */
  readonly settings?: UpstreamSettings;
  readonly problems: Notes;
  readonly warnings: Notes;
}

/** What a person has to see before they say yes to what has this digest. */
export interface Asked {
  readonly sha256: string;
  readonly reason: string;
  /** Safe to print: what is new or different, and size and SHA-256 of the schema. */
  readonly difference: readonly string[];
}

export interface ToolRow {
  readonly name: string;
  /** The name that agents call it by; absent: the server isn't there, so that only what is recorded is known. */
  readonly exposed?: string;
  readonly description?: string;
  readonly state: 'enabled' | 'disabled' | 'needs_approval' | 'recorded';
  readonly reason?: string;
  /** What hardening said: a cleaned description, hints that contradict each other. */
  readonly flags: readonly string[];
  /** In `disabled_tools` of its entry. */
  readonly off: boolean;
  readonly pin?: {
    readonly state: 'seen' | 'asked' | 'approved' | 'denied' | 'changed';
    readonly at: number;
    readonly by?: string;
    readonly schema?: { readonly sha256: string; readonly bytes: number };
  };
  readonly asked?: Asked;
}

export interface ServerDetail extends ServerRow {
  readonly tool_list: readonly ToolRow[];
  /** It waits for a yes to being started. */
  readonly asked?: Asked;
  /** Somebody said that it is never started. */
  readonly denied: boolean;
  /** It is remote, and a person logs in to it. */
  readonly login: boolean;
  /** What stands behind `npx` or `uvx`; absent: its command fetches nothing. */
  readonly package?: PackageRow;
}

export interface PackageRow {
  /** `missing`, `changed`: an act installs it. `unclear`: it can't be pinned as it is written, `reason` says why. */
  readonly state: 'installed' | 'missing' | 'changed' | 'unclear';
  readonly reason?: string;
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
}

export interface ServerToAddOver {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly connect: boolean;
  readonly replace: boolean;
}

/** What upstreams need is loaded with the first that there is, and not to say that there are none. */
export interface ServersOnDemand {
  list: OperatorServers['list'];
  whole(): Promise<OperatorServers>;
}

/** Each with words about it. Where nothing was written, nothing of it stays. */
export type Changed =
  | { readonly type: 'done'; readonly backup?: string; readonly secrets: readonly string[] }
  | { readonly type: 'taken' }
  | { readonly type: 'invalid'; readonly problems: Notes }
  | { readonly type: 'not_connected'; readonly state: string; readonly reason: string; readonly log: readonly string[] };

/** AppError `not_found` for a server that isn't there, `invalid_arguments` for one that isn't the operator's to change. */
export interface OperatorServers {
  /** `problem`: the file is broken, so this is what it said before. */
  list(): Promise<{ readonly servers: readonly ServerRow[]; readonly problem?: string }>;
  get(key: UpstreamKey): Promise<ServerDetail>;
  add(wanted: ServerToAddOver): Promise<Changed>;
  /** Keys of its entry: null takes one out. */
  change(name: string, patch: Readonly<Record<string, unknown>>): Promise<Changed>;
  enable(name: string, on: boolean): Promise<Changed>;
  /** Exactly these are off. */
  disableTools(name: string, tools: readonly string[]): Promise<Changed>;
  remove(name: string): Promise<{ readonly backup?: string; readonly forgotten: boolean; readonly secrets_kept: readonly string[] }>;
  /** Its package is fetched, pinned and put in place. False: what is wanted was there, or its command fetches nothing. */
  install(key: UpstreamKey, options: { readonly update: boolean; readonly hosts: readonly string[] }): Promise<boolean>;
  reconnect(key: UpstreamKey): Promise<void>;
  /** The newest lines that it wrote on standard error. */
  log(key: UpstreamKey, lines: number): Promise<readonly string[]>;
  approve(key: UpstreamKey, sha256: string): Promise<readonly Answered[]>;
  approveTools(key: UpstreamKey, tools: readonly { readonly name: string; readonly sha256: string }[]): Promise<readonly Answered[]>;
  /** Without tools: the server. */
  deny(key: UpstreamKey, tools?: readonly string[]): Promise<void>;
  revoke(key: UpstreamKey, tools?: readonly string[]): Promise<boolean>;
  /** A login is begun; the browser comes back to this server, or the person brings the address it ended at. */
  authorize(key: UpstreamKey): Promise<{ readonly authorization_url: string; readonly redirect_uri: string; readonly expires_at: number }>;
  exchange(key: UpstreamKey, callback_url: string): Promise<void>;
}

export interface Answered {
  readonly name: string;
  readonly ok: boolean;
  /** Why not. */
  readonly message?: string;
}
