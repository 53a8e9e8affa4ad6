import type { Readable, Writable } from 'node:stream';
import type { AuditLog } from '../../audit/index.ts';
import type { Execution, Owner, WorkspaceBind } from '../../execution/index.ts';
import { createGate, type GatePolicy } from '../../gate/index.ts';
import { resolveToolset, resolveWorkspaces } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { type CallScope, type Peer, serveStdio } from '../../mcp/index.ts';
import { createFacts, createTools, jobLine } from '../../tools/index.ts';
import { closeOrphans } from './close-orphans.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { once } from './once.ts';
import { policyOf } from './policy.ts';
import { spooledOutput } from './spooled-output.ts';

export interface McpParts {
  readonly roots: readonly string[];
  readonly toolset: string;
  readonly facts: ProcessFacts;
  readonly home: string;
  /** As it holds where Writ was started. */
  readonly config: Config;
  configFor(project_dir: string): Promise<Config>;
  readonly redactor: Redactor;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly version: string;
  execution(): Promise<Execution>;
  audit(): Promise<AuditLog>;
  readonly input: Readable;
  readonly output: Writable;
}

/** The local agent: whoever speaks on a stdio connection of this machine's user. */
const LOCAL = { organization: 'org_local', agent: 'agent_local' } as const;

/** When the first answers are out. */
const AFTER_START_MS = 150;

/** Longest life of a job. */
const JOB_RUNTIME_MS = 3_600_000;

interface Settings {
  readonly config: Config;
  readonly policy: GatePolicy;
}

function pathsOf(binds: readonly WorkspaceBind[], access: WorkspaceBind['access']): readonly string[] {
  return binds.filter((bind) => bind.access === access).map((bind) => bind.path);
}

async function settingsFrom(config: Config): Promise<Settings> {
  return { config, policy: { rules: await policyOf(config), nonInteractive: config.dangerous.non_interactive } };
}

/** One MCP connection over stdio, from its first byte to the end of its last call. A connection is a Run. */
export async function serveMcp(parts: McpParts): Promise<void> {
  const { facts, config, logger, clock, redactor } = parts;
  const execution = await parts.execution();
  const run = newId('run', clock.now());
  // A stdio connection has one client; its name only chooses how long it is kept waiting.
  let client: string | undefined;
  /** By Workspace, filled before the first call in it. */
  const settings = new Map<string, Settings>();
  const startSettings = await settingsFrom(config);
  const settingsOf = (owner: Owner): Settings => settings.get(owner.workspace) ?? startSettings;

  // The biggest part of the program, and no list of tools needs it.
  const assessor = once(() => import('../../policy/index.ts'));
  const tools = createTools({
    execution,
    redactor,
    settingsOf: (owner) => {
      const { sandbox, shell } = settingsOf(owner).config;
      const yield_ms = shell.hosts[client ?? '']?.yield_ms ?? shell.yield_ms;
      return { ...shell, limits: sandbox.limits, yield_ms, job_runtime_ms: JOB_RUNTIME_MS };
    },
    assess: async (command, cwd, context) =>
      (await assessor()).assessCommand(command, {
        cwd,
        home: facts.user.home ?? '/nonexistent',
        workspaces: pathsOf(context.workspaces, 'write'),
        readable: pathsOf(context.workspaces, 'read'),
        facts: createFacts(facts.host_env['PATH'] ?? ''),
      }),
  });
  const toolset = resolveToolset(parts.toolset, config);
  if (!toolset.ok) throw new AppError('config_invalid', toolset.message, { fix: toolset.fix });

  const gate = createGate({
    tools,
    allows: (name, tool) => name === parts.toolset && toolset.toolset.allows(tool),
    policyOf: (owner) => settingsOf(owner).policy,
    audit: parts.audit,
    redactor,
    clock,
    logger,
  });

  const ownerOf = (workspace: string): Owner => ({ ...LOCAL, run, workspace });
  const scopeOf = async (peer: Peer): Promise<CallScope> => {
    client = peer.client?.name;
    const who = peer.client ? { client: { name: peer.client.name, version: peer.client.version, protocol: peer.revision } } : {};
    const client_roots = parts.roots.length > 0 ? [] : await peer.roots();
    const resolved = resolveWorkspaces({ roots_flag: parts.roots, client_roots, facts, writ_home: parts.home });
    const primary = resolved.ok ? resolved.workspaces[0]?.path : undefined;
    if (!resolved.ok || primary === undefined) {
      const problem = resolved.ok ? {} : { workspace_problem: { message: resolved.message, fix: resolved.fix } };
      return { owner: ownerOf(''), workspaces: [], ...who, ...problem };
    }
    if (!settings.has(primary)) {
      for (const warning of resolved.warnings) logger.warn(warning);
      settings.set(primary, await settingsFrom(await parts.configFor(primary)));
      execution.warmUp(resolved.workspaces);
    }
    return { owner: ownerOf(primary), workspaces: resolved.workspaces, ...who };
  };

  const server = serveStdio({
    gate,
    toolset: parts.toolset,
    server: { name: 'writ', title: 'Writ', version: parts.version },
    instructions: INSTRUCTIONS,
    clock,
    logger,
    scopeOf,
    pendingNotices: async (owner) => (await execution.jobs.takeEnded(owner)).map((job) => redactor.text(`Job ended: ${jobLine(job)}`)),
    resources: spooledOutput({ gate, toolset: parts.toolset }),
    input: parts.input,
    output: parts.output,
  });

  // Off the start-up path: what the first command needs, and what an earlier process left behind.
  const afterwards = setTimeout(() => {
    execution.warmUp([]);
    assessor().catch((thrown: unknown) => logger.warn('the assessor could not be loaded', { reason: String(thrown) }));
    closeOrphans({ execution, audit: parts.audit, home: parts.home, logger, clock }).catch((thrown: unknown) =>
      logger.warn('recovery failed', { reason: String(thrown) }),
    );
  }, AFTER_START_MS).unref();
  await server.closed;
  clearTimeout(afterwards);
  await execution.close();
  await (await parts.audit()).close();
}
