import type { ApprovalRecord } from '../../approvals/index.ts';
import type { AuditLog } from '../../audit/index.ts';
import type { Settings as Flags } from '../../cli/index.ts';
import type { Execution, Owner, WorkspaceBind } from '../../execution/index.ts';
import { createGate, type Gate, type GatePolicy } from '../../gate/index.ts';
import { createHomeSigner } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { ServerParts } from '../../mcp/index.ts';
import { type Browsing, createFacts, createTools, jobLine, missingTool } from '../../tools/index.ts';
import type { Asking } from './approvals.ts';
import type { Gateway } from './gateway.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { watchServers } from './live-servers.ts';
import { createLiveToolsets } from './live-toolsets.ts';
import { once } from './once.ts';
import { policyOf } from './policy.ts';
import { createServingUpstreams } from './serving-upstreams.ts';
import { spooledOutput } from './spooled-output.ts';
import { findTools } from './upstream-tools.ts';

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
  /** Everything a connection or endpoint needs but whose call it is. A toolset nobody has configured by now is AppError config_invalid. */
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

  const upstreams = createServingUpstreams(parts);
  await upstreams.configure(config);
  let { list_at_most } = config.tools;

  const signer = createHomeSigner(parts.home);
  const toolsets = createLiveToolsets(config, logger);
  const allows = (name: string, tool: string, owner?: Owner): boolean =>
    toolsets.allows(name, tool, owner === undefined ? undefined : settingsOf(owner).config);
  const people = once(async () => ({
    ...(await parts.asking()),
    has_page: parts.approvalUrl !== undefined,
    waitMs: (owner: Owner) => settingsOf(owner).config.approvals.wait_seconds * 1000,
  }));
  const makeGate = (): Gate => {
    const more = upstreams.now();
    return createGate({
      tools: more === undefined ? tools : [...tools, more.results.tool],
      ...(more === undefined
        ? {}
        : {
            foreign: more.tools,
            missing: (name: string) => missingTool(name, more.upstreams),
            finding: { tools: findTools(more.tools, allows), above: () => list_at_most },
          }),
      allows,
      policyOf: (owner) => settingsOf(owner).policy,
      people,
      audit: parts.audit,
      redactor,
      clock,
      logger,
    });
  };
  let inner = makeGate();
  /** One gate for all connections, whatever is configured in the course of them. */
  const outer: Gate = { list: (toolset) => inner.list(toolset), call: (request) => inner.call(request) };
  const gate = parts.watch?.(outer, redactor) ?? outer;

  const unwatch = watchServers({
    ...parts,
    async apply(now) {
      list_at_most = now.tools.list_at_most;
      const others = toolsets.configure(now);
      const before = upstreams.now();
      try {
        await upstreams.configure(now);
      } finally {
        // Toolsets hold, whatever became of the servers.
        const added = before === undefined ? upstreams.now() : undefined;
        inner = makeGate();
        if (others || added !== undefined) upstreams.announce({ type: 'tools' });
        void added?.upstreams.ready(0);
      }
    },
  });

  const read = async (primary: string, workspaces: readonly WorkspaceBind[]): Promise<void> => {
    settings.set(primary, await settingsFrom(await parts.configFor(primary)));
    execution.warmUp(workspaces);
  };

  return {
    gate,
    serverParts(name) {
      toolsets.use(name);
      return {
        gate,
        toolset: name,
        server: { name: 'writ', title: 'Writ', version: parts.version },
        instructions: INSTRUCTIONS,
        clock,
        logger,
        pendingNotices: async (owner) => (await execution.jobs.takeEnded(owner)).map((job) => redactor.text(`Job ended: ${jobLine(job)}`)),
        resources: spooledOutput({ gate, toolset: name, artifacts: () => upstreams.now()?.results.store }),
        catalogueReady: async () => upstreams.now()?.upstreams.ready(LIST_WAIT_MS),
        foreign: () => upstreams.now()?.offers,
        onChange: upstreams.onChange,
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
      void upstreams.now()?.upstreams.ready(0);
    },
    async close() {
      unwatch();
      await upstreams.close();
    },
  };
}

function pathsOf(binds: readonly WorkspaceBind[], access: WorkspaceBind['access']): readonly string[] {
  return binds.filter((bind) => bind.access === access).map((bind) => bind.path);
}

async function settingsFrom(config: Config): Promise<Settings> {
  return { config, policy: { rules: await policyOf(config), nonInteractive: config.dangerous.non_interactive } };
}
