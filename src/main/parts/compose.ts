import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { App, Settings } from '../../cli/index.ts';
import type { Execution } from '../../execution/index.ts';
import { createSealedStore, findGitRoot } from '../../identity/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import { type Config, ensureHome, type LogLevel, type ProcessFacts, readProcess } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { createRedactor, secretValues } from '../../kernel/redaction/index.ts';
import { createStderrLogger } from '../../kernel/stderr-logger.ts';
import { createConfigs } from './configs.ts';
import { once } from './once.ts';
import { policyOf } from './policy.ts';
import { selfCommand } from './self-command.ts';
import { version } from './version.ts';

/**
 * The one place that wires rooms together for the `writ` program. Everything but the facts of the process is made when first
 * asked for, and what a command doesn't use is not even loaded: `writ mcp` must answer its first request fast.
 */
export async function composeApp(entry: (name: string) => URL, settings: Settings = []): Promise<App> {
  const facts = readProcess();
  const clock = systemClock;
  const home = once(() => {
    const ensured = ensureHome(facts);
    if (!ensured.ok) throw new AppError('config_invalid', ensured.message, { fix: ensured.fix });
    for (const warning of ensured.warnings) logger.warn(warning);
    return ensured;
  });
  const redactor = createRedactor({ known_values: secretValues(facts.host_env) });
  // Until the configuration is read, what the environment says; a wrong word there is refused with the rest of it.
  const logger = createStderrLogger({ redactor, level: levelOf(facts.host_env['WRIT_LOG_LEVEL']), output: process.stderr, clock });
  const configFor = createConfigs({ facts, home: () => home().home, logger, flags: settings });
  /** Where no agent has said where it works yet. */
  const project = findGitRoot(facts.cwd ?? '/', facts.uid) ?? facts.cwd;
  const config = once(() => configFor(project));
  const execution = once(async () => {
    const { createLocalExecution } = await import('./execution.ts');
    return createLocalExecution({ facts, home: home().home, config: await config(), runner: entry('runner'), logger, clock });
  });
  const database = once(async () => (await import('./database.ts')).openDatabase(home().home, entry('writer-thread')));
  const auditParts = async () => ({
    home: home().home,
    database: await database(),
    clock,
    logger,
    config: (await config()).audit,
  });
  const audit = once(async () => (await import('./audit.ts')).openAudit(await auditParts()));
  const asking = once(async () => {
    const { openApprovals } = await import('./approvals.ts');
    return openApprovals({ database: await database(), audit, clock, logger, redactor, config: await config(), host_env: facts.host_env });
  });
  const identity = once(async () => {
    const { openIdentity } = await import('./identity.ts');
    return openIdentity({ ...(await database()), clock, logger, facts, home: home().home });
  });

  const gateway = once(async () => {
    const { createGateway } = await import('./gateway.ts');
    return createGateway({ facts, home: home().home, config: await config(), version, clock, logger, redactor, execution, audit });
  });

  const browsing = once(async () =>
    (await import('./browsing.ts')).createLocalBrowsing({ home: home().home, reader: entry('page-reader'), clock, logger }),
  );

  /** Each yes of WRIT_APPROVE_MCP that `--strict` found is in the record, which was opened for it then. */
  const approve_all = facts.host_env['WRIT_APPROVE_MCP'] === '1';
  const closeRecord = async (): Promise<void> => (approve_all ? (await audit()).close() : undefined);
  /** `--strict`, with a gateway of its own that starts nothing. */
  async function insist(its: Config, from: string | undefined): Promise<void> {
    if (facts.host_env['WRIT_DISABLE_MCP'] === '1' || Object.keys(its.mcp_servers).length === 0) return;
    const [{ insistOnUpstreams }, { createGateway }] = await Promise.all([import('./strict.ts'), import('./gateway.ts')]);
    const looking = createGateway({ facts, home: home().home, config: its, version, clock, logger, redactor, execution, audit });
    try {
      await insistOnUpstreams({ gateway: looking, config: its, project: from, approve_all });
    } catch (thrown) {
      await closeRecord();
      throw thrown;
    } finally {
      await looking.close();
    }
  }

  /** What a server of this process is made of, whatever carries its messages. */
  const serverParts = async () => ({
    facts,
    home: home().home,
    config: await config(),
    configFor,
    flags: settings,
    project,
    redactor,
    logger,
    clock,
    execution,
    gateway,
    browsing,
    audit,
    asking,
    version,
  });

  return {
    version,
    clock,
    cwd: facts.cwd ?? '/',
    self: selfCommand(facts.self),
    home: () => home().home,
    execution,
    audit,
    identity,
    asking: async () => (await import('./approvals.ts')).askingOf(await asking(), { audit, clock, operator: facts.user.name }),
    upstreams: async () => {
      const { openUpstreams } = await import('./upstreams-port.ts');
      return openUpstreams({
        gateway: await gateway(),
        config: await config(),
        project,
        facts,
        home: home().home,
        clock,
        redactor,
        version,
        execution,
        audit,
      });
    },
    secrets: async () => createSealedStore(home().home, 'secrets'),
    archiveAudit: async () => (await import('./audit.ts')).archiveAudit(await auditParts()),
    check: async (command, cwd) =>
      (await import('./check.ts')).checkCommand({
        command,
        cwd,
        facts,
        home: home().home,
        policy: await policyOf(await configFor(findGitRoot(cwd, facts.uid) ?? cwd)),
      }),
    explainConfig: async () => (await import('./explain.ts')).explainLocalConfig(facts, home().home, redactor),
    serveMcp: async ({ upstreams, strict, ...options }) => {
      if (strict && upstreams) await insist(await config(), project);
      // Said by a variable, which a relay takes along.
      const own = upstreams ? facts : { ...facts, host_env: { ...facts.host_env, WRIT_DISABLE_MCP: '1' } };
      const streams = { input: process.stdin, output: process.stdout };
      const standalone = async (more: { input: Readable; output: Writable; run?: string }): Promise<void> => {
        const { serveMcp } = await import('./serve-mcp.ts');
        await serveMcp({ ...options, ...(await serverParts()), facts: own, ...more });
      };
      // A look at one path, and nothing of it is loaded where no `writ up` runs.
      // What was said on the command line holds for this process, whatever the other one does.
      if (settings.length === 0 && existsSync(join(home().home, 'writ.sock'))) {
        const { relayMcp } = await import('./relay-mcp.ts');
        if (await relayMcp({ ...options, ...streams, facts: own, home: home().home, version, logger, standalone })) {
          if (strict) await closeRecord();
          return;
        }
      }
      await standalone(streams);
    },
    up: async (options) => {
      const { startUp } = await import('./up.ts');
      const { createLocalExecution } = await import('./execution.ts');
      const makeExecution = (its: ProcessFacts, config: Config): Execution =>
        createLocalExecution({ facts: its, home: home().home, config, runner: entry('runner'), logger, clock });
      // No project says anything about a server of all of them.
      const operators = await configFor(undefined);
      const { upstreams, strict, ...flags } = options;
      if (strict && upstreams) await insist(operators, undefined);
      const own = upstreams ? facts : { ...facts, host_env: { ...facts.host_env, WRIT_DISABLE_MCP: '1' } };
      const parts = { ...(await serverParts()), facts: own, config: operators, project: undefined };
      return startUp({ ...parts, identity: await identity(), makeExecution, ...flags });
    },
    catalogue: async (options) => (await import('./catalogue.ts')).readCatalogue(await serverParts(), options),
    server: async () => {
      const { announced, serverUrl } = await import('./server-address.ts');
      const running = await announced(home().home);
      return { url: running ?? serverUrl((await configFor(undefined)).server), running: running !== undefined };
    },
    checkToolset: async (name) => {
      const { checkToolset } = await import('./identity.ts');
      checkToolset(name, await configFor(undefined));
    },
    untilSignal: () =>
      new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
      }),
    demonstrate: async () => {
      const { demonstrate } = await import('./demonstrate.ts');
      return demonstrate(await serverParts());
    },
  };
}

function levelOf(word: string | undefined): LogLevel {
  return word === 'debug' || word === 'warn' || word === 'error' ? word : 'info';
}
