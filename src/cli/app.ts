import type { ArchiveSummary } from '../audit/index.ts';
import type { AuditLog } from '../audit/types.ts';
import type { Execution } from '../execution/types.ts';
import type { Identity } from '../identity/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Assessment, Decision } from '../policy/types.ts';

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
  /** Moves what is older or more than the configuration keeps into archives, now. */
  archiveAudit(): Promise<ArchiveSummary>;
  /** Assessment and decision as an agent in `cwd` would get them. */
  check(command: string, cwd: string): Promise<{ readonly assessment: Assessment; readonly decision: Decision }>;
  /** Problems and warnings of the configuration, and where each value comes from. */
  explainConfig(): Promise<{ readonly ok: boolean; readonly text: string; readonly json: unknown }>;
  /** Serves MCP on this process's stdin and stdout until the client closes it. */
  serveMcp(options: { readonly roots: readonly string[]; readonly toolset: string }): Promise<void>;
  /** One command through an MCP server of its own, for the first start. */
  demonstrate(): Promise<string>;
  /** argv a host should start the server with. */
  readonly self: readonly string[];
}

/** Where a command writes and how it ends; a command never touches the process itself. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  exit(code: number): void;
}
