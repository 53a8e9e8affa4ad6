import type { Readable, Writable } from 'node:stream';
import type { AuditLog } from '../../audit/index.ts';
import type { Execution, Owner } from '../../execution/index.ts';
import { createGate } from '../../gate/index.ts';
import { resolveToolset, resolveWorkspaces } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { type CallScope, type Peer, serveStdio } from '../../mcp/index.ts';
import { assessCommand } from '../../policy/index.ts';
import { createFacts, createTools, jobLine } from '../../tools/index.ts';
import { closeOrphans } from './close-orphans.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { policyOf } from './policy.ts';
import { spooledOutput } from './spooled-output.ts';

export interface McpParts {
  readonly roots: readonly string[];
  readonly toolset: string;
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly config: Config;
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

/** One MCP connection over stdio, from its first byte to the end of its last call. A connection is a Run. */
export async function serveMcp(parts: McpParts): Promise<void> {
  const { facts, config, logger, clock, redactor } = parts;
  const policy = await policyOf(config);
  const execution = await parts.execution();
  const run = newId('run', clock.now());
  // A stdio connection has one client; its name only chooses how long it is kept waiting.
  let client: string | undefined;

  const tools = createTools(execution, {
    limits: config.sandbox.limits,
    timeout_ms: config.shell.timeout_ms,
    max_timeout_ms: config.shell.max_timeout_ms,
    yield_ms: () => config.shell.hosts[client ?? '']?.yield_ms ?? config.shell.yield_ms,
    job_runtime_ms: 3_600_000,
    assess: (command, cwd, context) =>
      assessCommand(command, {
        cwd,
        home: facts.user.home ?? '/nonexistent',
        workspaces: context.workspaces.filter((bind) => bind.access === 'write').map((bind) => bind.path),
        facts: createFacts(facts.host_env['PATH'] ?? ''),
      }),
  });
  const toolset = resolveToolset(parts.toolset, config);
  if (!toolset.ok) throw new AppError('config_invalid', toolset.message, { fix: toolset.fix });

  const gate = createGate({
    tools,
    allows: (name, tool) => name === parts.toolset && toolset.toolset.allows(tool),
    policy,
    nonInteractive: config.dangerous.non_interactive,
    audit: parts.audit,
    redactor,
    clock,
    logger,
  });

  const ownerOf = (workspace: string): Owner => ({ ...LOCAL, run, workspace });
  const scopeOf = async (peer: Peer): Promise<CallScope> => {
    client = peer.client?.name;
    const client_roots = parts.roots.length > 0 ? [] : await peer.roots();
    const resolved = resolveWorkspaces({ roots_flag: parts.roots, client_roots, facts, writ_home: parts.home });
    if (!resolved.ok) return { owner: ownerOf(''), workspaces: [], workspace_problem: { message: resolved.message, fix: resolved.fix } };
    const [first] = resolved.workspaces;
    return { owner: ownerOf(first?.path ?? ''), workspaces: resolved.workspaces };
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

  // Off the start-up path: what an earlier process left behind, and a runner for the first command.
  const tidied = setTimeoutUnref(() =>
    closeOrphans(execution, parts.audit, logger, clock).catch((thrown: unknown) =>
      logger.warn('recovery failed', { reason: String(thrown) }),
    ),
  );
  await server.closed;
  clearTimeout(tidied);
  await execution.close();
  await (await parts.audit()).close();
}

function setTimeoutUnref(work: () => void): NodeJS.Timeout {
  return setTimeout(work, 150).unref();
}
