import type { ApprovalRecord, Approvals, Grants } from '../approvals/types.ts';
import type { ArchiveSummary } from '../audit/index.ts';
import type { AuditLog } from '../audit/types.ts';
import type { Execution, ProbeResult } from '../execution/types.ts';
import type { SealedStore } from '../identity/index.ts';
import type { Identity } from '../identity/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ServerChange } from '../kernel/config/edit-servers.ts';
import type { WrittenServers } from '../kernel/config/write-servers.ts';
import type { Assessment, Decision } from '../policy/types.ts';
import type {
  ImportRead,
  Installed,
  LookedAt,
  PackageLook,
  SettingsRead,
  UpstreamApprovals,
  UpstreamKey,
  UpstreamSettings,
  UpstreamStatus,
} from '../upstreams/index.ts';
import type { Keyboard } from './keyboard.ts';

/** What the commands may do, wired in main/. Each part is made when first asked for, so that `writ check` opens no database. */
export interface App {
  readonly version: string;
  /** Made if missing; AppError config_invalid when it can't be trusted. */
  home(): string;
  readonly cwd: string;
  readonly clock: Clock;
  execution(): Promise<Execution>;
  /** To be closed last: the database is closed with it. */
  audit(): Promise<AuditLog>;
  identity(): Promise<Identity>;
  /** Questions to people and what is remembered of their answers. */
  asking(): Promise<AskingPort>;
  upstreams(): Promise<UpstreamsPort>;
  secrets(): Promise<SealedStore>;
  /** Moves what is older or more than the configuration keeps into archives, now. */
  archiveAudit(): Promise<ArchiveSummary>;
  /** Assessment and decision as an agent in `cwd` would get them. */
  check(command: string, cwd: string): Promise<{ readonly assessment: Assessment; readonly decision: Decision }>;
  /** Problems and warnings of the configuration, and where each value comes from. */
  explainConfig(): Promise<{ readonly ok: boolean; readonly text: string; readonly json: unknown }>;
  /** Serves MCP on this process's stdin and stdout until the client closes it. */
  serveMcp(options: ServeOptions & { readonly roots: readonly string[]; readonly toolset: string }): Promise<void>;
  /** Serves agents over HTTP and the socket of the Writ home, and the operator's page, until it is closed. */
  up(options: UpOptions): Promise<Up>;
  /** What agents get of tools; the other MCP servers are started for it and ended. */
  catalogue(options: { readonly toolset: string /** Each tool, however many there are. */; readonly whole: boolean }): Promise<Catalogue>;
  /** Where `writ up` is reached: the one that runs, as far as is known, else what the configuration says. */
  server(): Promise<{ readonly url: string; readonly running: boolean }>;
  /** AppError config_invalid for a toolset that nobody configured. */
  checkToolset(name: string): Promise<void>;
  /** Resolves when this process is told to end. */
  untilSignal(): Promise<string>;
  /** One command through an MCP server of its own, for the first start. */
  demonstrate(): Promise<string>;
  /** argv a host should start the server with. */
  readonly self: readonly string[];
}

/** One tool as `tools/list` has it; its other members go along. */
export interface CatalogueTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface Catalogue {
  readonly tools: readonly CatalogueTool[];
  /** Servers that are not there, each with why. */
  readonly missing: readonly string[];
  /** Tools that wait for a person's yes. */
  readonly waiting: readonly string[];
}

export interface AskingPort {
  readonly approvals: Approvals;
  readonly grants: Grants;
  /** Whether this process acts for the one that asks; undefined when that can't be found out. */
  actsFor(record: ApprovalRecord): boolean | undefined;
  /** Somebody tried to answer their own question. */
  recordSelfApproval(record: ApprovalRecord): Promise<void>;
  /** The person, as the record names them. */
  readonly operator: string;
}

/** One entry of `mcp_servers`, and what it comes to. */
export interface ConfiguredServer {
  readonly name: string;
  readonly source: 'operator' | 'project';
  /** As it stands in the file. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly read: SettingsRead;
}

/** MCP servers of the configuration, for a person to look at, change and answer for. */
export interface UpstreamsPort {
  /** As they are configured where this command runs. */
  readonly servers: readonly ConfiguredServer[];
  readonly approvals: UpstreamApprovals;
  readonly secrets: SealedStore;
  /** An entry as the operator's file would have it; nothing is written or started. */
  check(name: string, entry: Readonly<Record<string, unknown>>): SettingsRead;
  /** As it may be shown. */
  mask(settings: UpstreamSettings): UpstreamSettings;
  /** Starts one, lists its tools, and ends it. */
  look(settings: UpstreamSettings): Promise<LookedAt>;
  /** What there is of the package behind `npx` or `uvx`; nothing is fetched. */
  packageOf(settings: UpstreamSettings): PackageLook;
  /** Installs that package, recorded; AppError where it can't be. Of a server that was added, `undo` takes it away again. */
  install(
    settings: UpstreamSettings,
    options?: { readonly update?: boolean; readonly hosts?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<Installed>;
  /** What was installed for it goes. */
  uninstall(key: UpstreamKey): Promise<boolean>;
  /** What other programs have: of one of them, of a file, of all. */
  imports(from: string | undefined): Promise<ImportRead>;
  /** Changes the operator's file. */
  write(changes: readonly ServerChange[]): Promise<WrittenServers>;
  /** A person's login to a remote server. */
  login(settings: UpstreamSettings): Promise<LoginPort>;
  /** Ends one that another process of this user has begun: the address that the browser ended at. */
  answerLogin(settings: UpstreamSettings, address: string): Promise<void>;
  /** The login is gone here; `revoked`: its issuer knows as well. */
  logout(settings: UpstreamSettings): Promise<{ readonly was: boolean; readonly revoked: boolean }>;
  /** The servers of the processes that serve agents of this home; undefined: there are none. */
  running(): Promise<RunningServers | undefined>;
  /** Whether this process hangs under a host that has a `writ mcp` of its own: nobody approves themselves. */
  actsForAgent(): boolean;
  readonly operator: string;
  close(): Promise<void>;
}

/**
 * The servers that run: those of `writ up` with the projects that hosts work in, and those of each `writ mcp` that works by itself. One
 * server may run in several processes. AppError where nobody has it, refuses or goes away.
 */
export interface RunningServers {
  list(): Promise<readonly UpstreamStatus[]>;
  /** Wherever it runs. */
  reconnect(key: UpstreamKey): Promise<readonly UpstreamStatus[]>;
  /** The last `lines` of what one wrote on standard error and, with `follow`, those that come until the signal. */
  log(
    key: UpstreamKey,
    options: { readonly lines: number; readonly follow: boolean },
    told: (line: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

/** One login, begun. */
export interface LoginPort {
  /** For a person to open in a browser. */
  readonly address: string;
  /** Where the browser comes back to: a port of this machine. */
  readonly redirect_uri: string;
  /** Resolves when the browser came back with a yes. AppError when it came with a no, or not within 10 minutes. */
  finished(): Promise<void>;
  /** What a browser of another machine ended at, pasted by the person. */
  answer(address: string): Promise<void>;
  close(): void;
}

interface ServeOptions {
  /** False: those of the configuration are left out. */
  readonly upstreams: boolean;
  /** AppError upstreams_not_ready, before anything is started, when one of them can't be had. */
  readonly strict: boolean;
}

export interface UpOptions extends ServeOptions {
  readonly host?: string;
  readonly port?: number;
}

export interface Up {
  /** Of the page; agents connect at `/mcp` below it. */
  readonly url: string;
  /** An address that opens the page once, within 10 minutes. */
  link(): Promise<string>;
  probe(): Promise<ProbeResult>;
  /** One command through an MCP server in this process. */
  demonstrate(): Promise<string>;
  /** Foreground calls are cancelled and answered, jobs go on. Idempotent. */
  close(): Promise<void>;
}

/** Settings of the configuration that were given as flags. */
export type Settings = readonly { readonly flag: string; readonly path: string; readonly value: unknown }[];

/** Where a command writes and how it ends; a command never touches the process itself. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  exit(code: number): void;
  /** A person types and reads here: both ends are a terminal. */
  readonly interactive?: boolean;
  /** The person at it; absent where there can't be one. */
  keyboard?(): Promise<Keyboard>;
  /** All of standard input, up to a mebibyte; AppError invalid_arguments where it is more. */
  input?(): Promise<string>;
}
