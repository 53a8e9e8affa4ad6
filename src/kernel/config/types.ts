/**
 * The resolved configuration: complete, checked, frozen in meaning for the life of a process. Shapes only; what each value means,
 * its unit and its default are in `settings.ts` and `defaults.ts`. The words of effects and verdicts stand here and nowhere else: policy
 * takes them from here.
 */

/** Mildest first. */
export const EFFECT_WORDS = [
  'safe',
  'local_write',
  'code_execution',
  'unknown',
  'network_egress',
  'install',
  'system_write',
  'credential_access',
  'persistence',
  'destructive',
] as const;
/** Mildest first. */
export const VERDICT_WORDS = ['allow', 'contained', 'prompt', 'deny'] as const;
/** Strictest first. */
export const NON_INTERACTIVE_WORDS = ['deny', 'read_only', 'allow'] as const;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const BACKENDS = ['bubblewrap', 'container', 'none'] as const;

export type EffectWord = (typeof EFFECT_WORDS)[number];
export type VerdictWord = (typeof VERDICT_WORDS)[number];
export type NonInteractive = (typeof NON_INTERACTIVE_WORDS)[number];
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Backend = (typeof BACKENDS)[number];

/** DESIGN section 5: what holds where nobody says another. */
export const DEFAULT_VERDICTS: Readonly<Record<EffectWord, VerdictWord>> = {
  safe: 'allow',
  local_write: 'allow',
  code_execution: 'contained',
  unknown: 'contained',
  network_egress: 'prompt',
  install: 'prompt',
  system_write: 'prompt',
  credential_access: 'prompt',
  persistence: 'prompt',
  destructive: 'deny',
};

export interface RuleConfig {
  /** Words to match in order: a literal, `*` for exactly one word, `**` (last) for any rest, a list for alternatives. */
  readonly argv: readonly (string | readonly string[])[];
  readonly reason?: string;
  /** Command lines that must match, and must not: checked when the rule is loaded. */
  readonly match?: readonly string[];
  readonly not_match?: readonly string[];
}

/** Of one run. Zero or negative is refused. */
export interface RunLimits {
  readonly memory_bytes: number;
  readonly pids: number;
  /** CPUs' worth of time, 2 = two cores. */
  readonly cpus: number;
  readonly file_bytes: number;
  readonly open_files: number;
  /** What a run may add to private HOME and TMPDIR, and its spool. */
  readonly disk_bytes: number;
}

/** An external MCP server, as data: whatever a Claude Code entry may hold, with where it came from. */
export interface McpServerConfig {
  readonly source: 'operator' | 'project';
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface Config {
  /** Toolsets that a project's file names: there the project has its say, whatever the operator's become. */
  readonly narrowed?: readonly string[];
  readonly mcp_servers: Readonly<Record<string, McpServerConfig>>;
  readonly dangerous: {
    readonly classes: Readonly<Partial<Record<EffectWord, VerdictWord>>>;
    readonly non_interactive: NonInteractive;
    readonly deny: readonly RuleConfig[];
    readonly prompt: readonly RuleConfig[];
    readonly allow: readonly RuleConfig[];
  };
  readonly tools: { readonly toolsets: Readonly<Record<string, readonly string[]>>; readonly list_at_most: number };
  readonly sandbox: {
    readonly backend: Backend;
    readonly image: string | null;
    readonly missing: 'deny' | 'prompt';
    readonly env_pass: readonly string[];
    readonly loopback: readonly number[];
    readonly limits: RunLimits;
  };
  readonly shell: {
    readonly timeout_ms: number;
    readonly max_timeout_ms: number;
    readonly yield_ms: number;
    readonly hosts: Readonly<Record<string, { readonly yield_ms: number }>>;
  };
  readonly browser: { readonly allow_hosts: readonly string[] };
  readonly limits: {
    readonly job_retention_days: number;
    readonly job_quota_bytes: number;
  };
  readonly approvals: {
    readonly wait_seconds: number;
    readonly webhook: { readonly url: string | null; readonly secret_env: string | null };
  };
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly public_url: string | null;
    readonly hosts: readonly string[];
    readonly origins: readonly string[];
  };
  readonly audit: { readonly retention_days: number; readonly retention_bytes: number };
  readonly log: { readonly level: LogLevel };
}
