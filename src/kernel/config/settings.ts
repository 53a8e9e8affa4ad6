import type { Config } from './types.ts';

type Leaf = readonly unknown[] | string | number | null;
type Paths<T> = {
  [K in keyof T & string]: T[K] extends Leaf ? K : string extends keyof T[K] ? K : object extends T[K] ? K : `${K}.${Paths<T[K]>}`;
}[keyof T & string];

/** Dotted path of one setting; lists and maps count as one. */
export type SettingPath = Paths<Omit<Config, 'narrowed'>>;

/**
 * What a project's `writ.json`, which nobody has approved, may do with a setting. `no`: it is ignored with a warning.
 * `smaller`: lower a number. `stricter`: go towards the strict end of the words. `append`: add to the list.
 * `narrow`: leave out of a map's lists. `add`: bring in new entries (each is approved before it is used).
 */
export type ProjectRule = 'no' | 'smaller' | 'stricter' | 'append' | 'narrow' | 'add';

export interface Setting {
  readonly meaning: string;
  readonly unit?: string;
  readonly project: ProjectRule;
  /** A misspelt name of this setting is an error: unnoticed, it would leave something open. */
  readonly security: boolean;
}

const open = (meaning: string, unit?: string, project: ProjectRule = 'no'): Setting => ({
  meaning,
  project,
  security: false,
  ...(unit === undefined ? {} : { unit }),
});
const guarded = (meaning: string, project: ProjectRule = 'no', unit?: string): Setting => ({
  meaning,
  project,
  security: true,
  ...(unit === undefined ? {} : { unit }),
});

/** Every setting there is; the type makes a missing or misnamed one a compile error. Defaults are in `defaults.ts`. */
export const SETTINGS: Readonly<Record<SettingPath, Setting>> = {
  mcp_servers: guarded('External MCP servers by name; an entry of a Claude Code file works unchanged. Alias: mcpServers', 'add'),
  'dangerous.classes': guarded('Verdict per effect (allow, contained, prompt, deny); `blocked` can not be changed', 'stricter'),
  'dangerous.non_interactive': guarded(
    'What a prompt means when nobody can be asked: deny, read_only, allow (never destructive)',
    'stricter',
  ),
  'dangerous.deny': guarded('Commands that are always refused', 'append'),
  'dangerous.prompt': guarded('Commands that always need a yes', 'append'),
  'dangerous.allow': guarded('Commands that need no yes; never beats deny, prompt or the floor'),
  'tools.list_at_most': open(
    'With more tools of MCP servers than this, clients are shown find_tools, describe_tool and call_tool in their place; 0: always',
    'tools',
  ),
  'tools.toolsets': guarded('Named selections of tools; a toolset called "default" is used when none is named', 'narrow'),
  'sandbox.backend': guarded('What contains commands: bubblewrap, container, none'),
  'sandbox.image': guarded('Image of the containers, by name; default: the system of this machine in an empty image'),
  'sandbox.missing': guarded('When a needed part of containment is missing: deny, or prompt', 'stricter'),
  'sandbox.env_pass': guarded('Further environment variables that commands get'),
  'sandbox.loopback': guarded('Ports on the host that commands may reach'),
  'sandbox.limits.memory_bytes': guarded(
    'Memory of one run; default: three quarters of the machine, at most 4 GiB, in a container 2 GiB',
    'smaller',
    'bytes',
  ),
  'sandbox.limits.pids': guarded('Processes and threads of one run', 'smaller', 'processes'),
  'sandbox.limits.cpus': guarded("CPUs' worth of time of one run; default: all, in a container at most 2", 'smaller', 'cores'),
  'sandbox.limits.file_bytes': guarded('Largest file one run may write', 'smaller', 'bytes'),
  'sandbox.limits.open_files': guarded('Open files per process', 'smaller', 'files'),
  'sandbox.limits.disk_bytes': guarded('What one run may add to its private HOME, TMPDIR and spool', 'smaller', 'bytes'),
  'shell.timeout_ms': open('Time of a command that names none', 'ms', 'smaller'),
  'shell.max_timeout_ms': open('Most time a command may ask for', 'ms', 'smaller'),
  'shell.yield_ms': open('After this a command goes on as a job and the call is answered', 'ms'),
  'shell.hosts': open('yield_ms per MCP client name, where a host gives up earlier', 'ms'),
  'browser.allow_hosts': guarded(
    'Hosts the browser opens without a question, wherever they lead: `name`, `*.name`, an address, each with `:port` or for 80 and 443',
  ),
  'limits.job_retention_days': open('Delivered jobs older than this are removed', 'days'),
  'limits.job_quota_bytes': open('All job folders together; the oldest delivered go first', 'bytes'),
  'approvals.wait_seconds': guarded('How long a call waits for a person before it is told that it is pending', 'no', 'seconds'),
  'approvals.webhook.url': guarded('Is told of every question and what became of it; Slack takes it as it is'),
  'approvals.webhook.secret_env': guarded('The variable that holds the secret which signs what is sent there'),
  'server.host': guarded('Address `writ up` listens on'),
  'server.port': open('Port `writ up` listens on', 'port'),
  'server.public_url': guarded('Address under which others reach it'),
  'server.hosts': guarded('Further names in the Host header that are this server; any other is refused'),
  'server.origins': guarded('Web pages, by origin, whose scripts may call /mcp; the page of `writ up` is for itself alone'),
  'audit.retention_days': guarded('Closed segments of the record are archived after this', 'no', 'days'),
  'audit.retention_bytes': guarded('... or above this size', 'no', 'bytes'),
  'log.level': open('Least important line on stderr: debug, info, warn, error'),
};

/** Variables that set a value. None of them can widen policy: the file that starts Writ may come with a project. */
export const VARIABLES: Readonly<Record<string, SettingPath>> = {
  WRIT_LOG_LEVEL: 'log.level',
  WRIT_SHELL_TIMEOUT_MS: 'shell.timeout_ms',
  WRIT_SHELL_YIELD_MS: 'shell.yield_ms',
};
