import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { AuditLog } from '../../audit/index.ts';
import { type ChannelEnd, channelEnvironment, type Execution } from '../../execution/index.ts';
import { createHomeSigner, createSealedStore, type SealedStore } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ConfigNote, McpServerConfig, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { BUILT_IN_TOOLS } from '../../tools/index.ts';
import {
  type Admission,
  APPROVALS_FILE,
  type Carrier,
  createRemembered,
  createServerLog,
  createStdioCarrier,
  createUpstreamApprovals,
  createUpstreamPool,
  expandSettings,
  keyOf,
  LOGIN_NEWS,
  PACKAGES_FOLDER,
  type Packages,
  readSettings,
  type ServerLog,
  type SettingsRead,
  type UpstreamApprovals,
  type UpstreamKey,
  type UpstreamPool,
  type UpstreamSettings,
  type UpstreamTransport,
  vetTools,
} from '../../upstreams/index.ts';
import { once } from './once.ts';
import { createLocalPackages } from './packages.ts';
import type { UpstreamLogins } from './upstream-logins.ts';

/** How soon an answer that was given elsewhere is noticed. */
const ANSWERS_MS = 500;

export interface GatewayParts {
  /** Of this very process: upstreams get what is allowed of its environment, whoever uses them. */
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  execution(): Promise<Execution>;
  audit(): Promise<AuditLog>;
}

/** The upstreams of this process, and how a configuration names them. */
export interface Gateway {
  readonly pool: UpstreamPool;
  /** What a configuration's `mcp_servers` come to; what can't be used is said and left out. `project`: the real path of its folder. */
  settingsOf(config: Config, project: string | undefined): readonly UpstreamSettings[];
  /** One entry, and all that is to be said about it. */
  read(name: string, server: McpServerConfig, project: string | undefined): SettingsRead;
  /** Whether it may be started as it is now; asked before every start. */
  admit(settings: UpstreamSettings): Promise<Admission>;
  /** How it is reached, with everything filled in. AppError config_invalid where something is missing. */
  transportOf(settings: UpstreamSettings): Promise<UpstreamTransport>;
  /** What `${secret:NAME}` stands for. */
  readonly secrets: SealedStore;
  logins(): Promise<UpstreamLogins>;
  /** What one wrote on standard error, in all its lives of this process. */
  logOf(key: UpstreamKey): ServerLog;
  readonly approvals: UpstreamApprovals;
  /** What is installed for them. */
  readonly packages: Packages;
  close(): Promise<void>;
}

export function createGateway(parts: GatewayParts): Gateway {
  const { facts, home, clock, logger, redactor, version } = parts;
  const logs = new Map<string, ServerLog>();
  const said = new Set<string>();
  const secrets = createSealedStore(home, 'secrets');

  const packages = createLocalPackages(parts);

  const approvals = createUpstreamApprovals({
    home,
    organization: 'org_local',
    clock,
    audit: parts.audit,
    signer: createHomeSigner(home),
    redactor,
    versionOf: packages.versionOf,
    approve_all: facts.host_env['WRIT_APPROVE_MCP'] === '1',
  });

  async function admit(settings: UpstreamSettings): Promise<Admission> {
    const judged = await approvals.judgeServer(settings);
    // What is installed is part of what is approved, so that comes first.
    const found = judged.state === 'denied' ? undefined : packages.look(settings);
    if (found !== undefined && 'reason' in found) {
      return { ok: false, state: found.state === 'changed' ? 'quarantined' : 'needs_install', reason: found.reason };
    }
    if (judged.state === 'approved') return { ok: true };
    const state = judged.state === 'changed' ? 'quarantined' : 'needs_approval';
    return { ok: false, state, reason: `${judged.reason.replace(/\.$/, '')} (writ upstream approve ${settings.name})` };
  }

  function secretOf(name: string): string | undefined {
    const found = secrets.get(name);
    if (found.state !== 'corrupt') return found.state === 'value' ? found.value : undefined;
    throw new AppError('config_invalid', `the secret "${name}" can't be read: ${found.why} (writ secret set ${name})`);
  }

  function read(name: string, server: McpServerConfig, project: string | undefined): SettingsRead {
    return readSettings(name, server, { writ_home: home, user: facts.user, redactor, ...(project === undefined ? {} : { project }) });
  }

  /** Once, however many agents meet it. */
  function say(text: string): void {
    if (said.has(text)) return;
    said.add(text);
    logger.warn(text);
  }

  function logOf({ project, name }: UpstreamKey): ServerLog {
    const key = JSON.stringify([project, name]);
    const log = logs.get(key) ?? createServerLog({ name, clock, clean: redactor.text, show: (line) => logger.info(line) });
    logs.set(key, log);
    return log;
  }

  async function transportOf(settings: UpstreamSettings): Promise<UpstreamTransport> {
    const expanded = await expandSettings(settings, { env: facts.host_env, secret: async (name) => secretOf(name) });
    if (!expanded.ok) throw new AppError('config_invalid', expanded.problems.map(inWords).join('; '));
    // Before anything of it is sent: what comes back may hold it.
    redactor.learn(`server ${settings.project ?? ''} ${settings.name}`, expanded.secrets);
    return expanded.transport;
  }

  const logins = once(async () =>
    (await import('./upstream-logins.ts')).createUpstreamLogins({ home, clock, logger, learn: redactor.learn, transportOf }),
  );

  async function open(settings: UpstreamSettings, signal: AbortSignal): Promise<Carrier> {
    const transport = await transportOf(settings);
    if (transport.type !== 'stdio') {
      const [{ openHttpUpstream }, { live }] = await Promise.all([import('./http-upstream.ts'), logins()]);
      const login = live(settings, transport, `writ upstream login ${settings.name}`);
      const { type, url, headers } = transport;
      return openHttpUpstream({ type, url, headers, max_bytes: settings.max_response_bytes, ...(login === undefined ? {} : { login }) });
    }
    const { env, stripped } = channelEnvironment({ parent: facts.host_env, overrides: transport.env, env_secrets: settings.env_secrets });
    if (stripped.length > 0) {
      say(
        `MCP server "${settings.name}": ${stripped.join(', ')} looks like a secret and is kept back; name it in env_secrets if the server needs it`,
      );
    }
    const { argv, folder } = packages.launch(settings, transport);
    const execution = await parts.execution();
    const channel = await execution.connect(
      {
        name: `upstream:${settings.name}`,
        argv,
        ...(folder === undefined ? {} : { installation: { path: folder, access: 'read' } }),
        ...(transport.cwd === undefined ? {} : { cwd: transport.cwd }),
        env,
        roots: settings.roots,
        network: settings.network,
        unix_sockets: settings.unix_sockets,
        dev_shm: settings.dev_shm,
        nested_userns: settings.nested_userns,
        limits: parts.config.sandbox.limits,
      },
      signal,
    );
    logOf(keyOf(settings)).read(channel.stderr);
    return createStdioCarrier({ ...channel, ended: channel.ended.then(how), close: () => channel.close() }, settings.max_response_bytes);
  }

  const pool = createUpstreamPool({
    version,
    clock,
    logger,
    admit,
    open,
    backend: packages.versionOf,
    remembered: createRemembered(home, logger),
    clean: redactor.text,
    vet: (settings, definitions, signal) => vetTools(settings, definitions, { builtins: BUILT_IN_TOOLS, approvals, logger, signal }),
  });
  // Answers are given in another process.
  const answers = join(home, APPROVALS_FILE);
  const review = (): void =>
    void pool.review().catch((thrown: unknown) => logger.warn('upstreams could not be judged again', { reason: String(thrown) }));
  watchFile(answers, { interval: ANSWERS_MS, persistent: false }, review);
  // So is a login.
  watchFile(join(home, LOGIN_NEWS), { interval: ANSWERS_MS, persistent: false }, review);
  // What is installed is written down in there.
  watchFile(join(home, PACKAGES_FOLDER), { interval: ANSWERS_MS, persistent: false }, review);

  return {
    pool,
    approvals,
    packages,
    admit,
    transportOf,
    read,
    secrets,
    logins,
    settingsOf(config, project) {
      return Object.entries(config.mcp_servers).flatMap(([name, server]) => {
        const { warnings, ...known } = read(name, server, project);
        for (const warning of warnings) say(`MCP server "${name}": ${inWords(warning)}`);
        if (known.ok) return [known.settings];
        say(`writ: skipped "${name}": ${known.problems.map(inWords).join('; ')}`);
        return [];
      });
    },
    logOf,
    async close() {
      unwatchFile(answers, review);
      unwatchFile(join(home, LOGIN_NEWS), review);
      unwatchFile(join(home, PACKAGES_FOLDER), review);
      await pool.close();
    },
  };
}

function inWords({ message, fix }: ConfigNote): string {
  return fix === undefined ? message : `${message} (${fix.replace(/\.$/, '')})`;
}

function how({ cause, exit_code, signal, limits_hit }: ChannelEnd): string {
  const end = signal === undefined ? `it exited with ${exit_code ?? 'an unknown code'}` : `it was ended by ${signal}`;
  return `${cause === 'closed' ? 'it was closed' : end}${limits_hit.length > 0 ? ` (limits: ${limits_hit.join(', ')})` : ''}`;
}
