import type { ApprovalRecord } from '../../approvals/index.ts';
import type { AuditLog } from '../../audit/index.ts';
import type { Settings as Flags } from '../../cli/index.ts';
import type { Execution, Owner, WorkspaceBind } from '../../execution/index.ts';
import { createGate, type Gate, type GatePolicy } from '../../gate/index.ts';
import { createHomeSigner, resolveToolset, type Toolset } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { ServerParts } from '../../mcp/index.ts';
import { type Browsing, createFacts, createTools, jobLine } from '../../tools/index.ts';
import type { UpstreamView } from '../../upstreams/index.ts';
import type { Asking } from './approvals.ts';
import type { Gateway } from './gateway.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { once } from './once.ts';
import { policyOf } from './policy.ts';
import { spooledOutput } from './spooled-output.ts';
import { findTools, foreignOffers, upstreamTools } from './upstream-tools.ts';

export interface ServingParts {
  /** Of the process whose surroundings the commands get: this one, or the `writ mcp` that is relayed to it. */
  readonly facts: ProcessFacts;
  readonly home: string;
  /** As it holds where Writ was started. */
  readonly config: Config;
  configFor(project_dir: string): Promise<Config>;
  /** Settings given on the command line. */
  readonly flags?: Flags;
  /** The folder whose project file is part of `config`, by its real path. */
  readonly project?: string | undefined;
  readonly redactor: Redactor;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly version: string;
  /** Where calls are listed while they run. */
  watch?(gate: Gate, redactor: Redactor): Gate;
  /** The page where a person can answer a question. */
  approvalUrl?(record: ApprovalRecord): string;
  execution(): Promise<Execution>;
  /** Asked for where a configuration names upstreams; absent: there are none. */
  gateway?(): Promise<Gateway>;
  /** The web pages of this process; absent: there is no browser. */
  browsing?(): Promise<Browsing>;
  audit(): Promise<AuditLog>;
  asking(): Promise<Asking>;
}

/** What serves agents in one process: one gate over one set of tools, whatever carries the messages and however many agents there are. */
export interface Serving {
  readonly gate: Gate;
  /** Everything a connection or endpoint needs but whose call it is. A toolset nobody configured is AppError config_invalid. */
  serverParts(toolset: string): Omit<ServerParts, 'scopeOf'>;
  /** To be awaited before a call that works in these Workspaces: what holds in the first of them is read, once. */
  enter(workspaces: readonly WorkspaceBind[]): Promise<void>;
  /** Loads what the first command needs: to be called off the start-up path. */
  warmUp(): void;
  /** Lets go of the upstreams. */
  close(): Promise<void>;
}

/** A host gives a list of tools some ten seconds; upstreams that need longer come later, as a change of the list. */
const LIST_WAIT_MS = 8_000;

/** Longest life of a job. */
const JOB_RUNTIME_MS = 3_600_000;

interface Settings {
  readonly config: Config;
  readonly policy: GatePolicy;
}

export async function createServing(parts: ServingParts): Promise<Serving> {
  const { facts, config, logger, clock, redactor } = parts;
  const execution = await parts.execution();
  const startSettings = await settingsFrom(config);
  /** By Workspace, filled before the first call in it. */
  const settings = new Map<string, Settings>();
  const entering = new Map<string, Promise<void>>();
  const settingsOf = (owner: Owner): Settings => settings.get(owner.workspace) ?? startSettings;

  // The biggest part of the program, and no list of tools needs it.
  const assessor = once(() => import('../../policy/index.ts'));
  const browsing = await parts.browsing?.();
  const tools = createTools({
    execution,
    redactor,
    ...(browsing === undefined ? {} : { browser: { browsing, allowHosts: (owner) => settingsOf(owner).config.browser.allow_hosts } }),
    settingsOf: (owner, client) => {
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
    assessFiles: async (tool, uses, around, context) =>
      (await assessor()).assessPaths(tool, uses, {
        ...around,
        home: facts.user.home ?? '/nonexistent',
        workspaces: pathsOf(context.workspaces, 'write'),
        readable: pathsOf(context.workspaces, 'read'),
      }),
  });

  const upstreams = await upstreamsOf(parts);
  let list_at_most = config.tools.list_at_most;
  const unwatch =
    upstreams === undefined
      ? undefined
      : (await import('./live-servers.ts')).watchServers({
          ...parts,
          async apply(now) {
            list_at_most = now.tools.list_at_most;
            await upstreams.replace((await gatewayOf(parts)).settingsOf(now, parts.project));
          },
        });
  const results = upstreams === undefined ? undefined : (await import('./upstream-results.ts')).createResults({ ...parts, redactor });
  const foreign = upstreams === undefined || results === undefined ? undefined : upstreamTools(upstreams, results.bound(upstreams.offers), redactor.known);

  const signer = createHomeSigner(parts.home);
  const toolsets = new Map<string, Toolset>();
  // A project may leave tools out of a toolset for calls in its folder, wherever Writ was started.
  const leavesIn = createLeavesIn();
  const allows = (name: string, tool: string, owner?: Owner): boolean =>
    (toolsets.get(name)?.allows(tool) ?? false) && (owner === undefined || leavesIn(settingsOf(owner).config, name, tool));
  const inner = createGate({
    tools: results === undefined ? tools : [...tools, results.tool],
    ...(foreign === undefined ? {} : { foreign, finding: { tools: findTools(foreign, allows), above: () => list_at_most } }),
    allows,
    policyOf: (owner) => settingsOf(owner).policy,
    people: once(async () => ({
      ...(await parts.asking()),
      has_page: parts.approvalUrl !== undefined,
      waitMs: (owner: Owner) => settingsOf(owner).config.approvals.wait_seconds * 1000,
    })),
    audit: parts.audit,
    redactor,
    clock,
    logger,
  });

  const gate = parts.watch?.(inner, redactor) ?? inner;

  const read = async (primary: string, workspaces: readonly WorkspaceBind[]): Promise<void> => {
    settings.set(primary, await settingsFrom(await parts.configFor(primary)));
    execution.warmUp(workspaces);
  };

  return {
    gate,
    serverParts(name) {
      const resolved = resolveToolset(name, config);
      if (!resolved.ok) throw new AppError('config_invalid', resolved.message, { fix: resolved.fix });
      toolsets.set(name, resolved.toolset);
      return {
        gate,
        toolset: name,
        server: { name: 'writ', title: 'Writ', version: parts.version },
        instructions: INSTRUCTIONS,
        clock,
        logger,
        pendingNotices: async (owner) => (await execution.jobs.takeEnded(owner)).map((job) => redactor.text(`Job ended: ${jobLine(job)}`)),
        resources: spooledOutput({ gate, toolset: name, ...(results === undefined ? {} : { artifacts: results.store }) }),
        ...(upstreams === undefined
          ? {}
          : {
              catalogueReady: () => upstreams.ready(LIST_WAIT_MS),
              foreign: foreignOffers(upstreams, redactor.known),
              onChange: upstreams.onChange,
            }),
        signer,
        ...(parts.approvalUrl ? { approvalUrl: parts.approvalUrl } : {}),
      };
    },
    enter(workspaces) {
      const primary = workspaces[0]?.path;
      if (primary === undefined) return Promise.resolve();
      const known = entering.get(primary);
      if (known !== undefined) return known;
      const entered = read(primary, workspaces);
      entering.set(primary, entered);
      entered.catch(() => entering.delete(primary));
      return entered;
    },
    warmUp() {
      execution.warmUp([]);
      // Who started this process is read while they are still there.
      parts.asking().catch((thrown: unknown) => logger.warn('nobody could be asked', { reason: toAppError(thrown).message }));
      assessor().catch((thrown: unknown) => logger.warn('the assessor could not be loaded', { reason: toAppError(thrown).message }));
      void upstreams?.ready(0);
    },
    async close() {
      unwatch?.();
      await upstreams?.close();
    },
  };
}

async function upstreamsOf(parts: ServingParts): Promise<UpstreamView | undefined> {
  const { facts, config, project } = parts;
  // All that upstreams need is 50 MiB, which nobody should pay who has none.
  const none = Object.keys(config.mcp_servers).length === 0;
  if (parts.gateway === undefined || none || facts.host_env['WRIT_DISABLE_MCP'] === '1') return undefined;
  const { pool, settingsOf } = await gatewayOf(parts);
  return pool.view(settingsOf(config, project));
}

async function gatewayOf({ gateway }: ServingParts): Promise<Gateway> {
  if (gateway === undefined) throw new AppError('internal', 'This process has no upstreams.');
  return gateway();
}

function pathsOf(binds: readonly WorkspaceBind[], access: WorkspaceBind['access']): readonly string[] {
  return binds.filter((bind) => bind.access === access).map((bind) => bind.path);
}

async function settingsFrom(config: Config): Promise<Settings> {
  return { config, policy: { rules: await policyOf(config), nonInteractive: config.dangerous.non_interactive } };
}

/** Whether a tool is in a toolset by a configuration, which never changes; one that it doesn't know is left as it is. Asked at every call. */
function createLeavesIn(): (config: Config, toolset: string, tool: string) => boolean {
  const known = new WeakMap<Config, Map<string, ReturnType<typeof resolveToolset>>>();
  return (config, toolset, tool) => {
    const ofConfig = known.get(config) ?? new Map<string, ReturnType<typeof resolveToolset>>();
    known.set(config, ofConfig);
    const resolved = ofConfig.get(toolset) ?? resolveToolset(toolset, config);
    ofConfig.set(toolset, resolved);
    return !resolved.ok || resolved.toolset.allows(tool);
  };
}
