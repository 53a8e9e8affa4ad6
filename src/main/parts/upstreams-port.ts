import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { actsForSomeAgent } from '../../approvals/index.ts';
import type { AuditLog } from '../../audit/index.ts';
import type { UpstreamsPort } from '../../cli/index.ts';
import type { Execution } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Config, loadConfig, type ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { keyOf, maskSettings, readImports, type UpstreamSettings } from '../../upstreams/index.ts';
import type { Gateway } from './gateway.ts';

export interface UpstreamsPortParts {
  readonly gateway: Gateway;
  readonly config: Config;
  readonly project: string | undefined;
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly version: string;
  execution(): Promise<Execution>;
  audit(): Promise<AuditLog>;
}

/** The MCP servers of the configuration for the commands of a person. */
export function openUpstreams(parts: UpstreamsPortParts): UpstreamsPort {
  const { gateway, config, project, facts, home, clock, redactor } = parts;
  const servers = Object.entries(config.mcp_servers).map(([name, { source, entry }]) => ({
    name,
    source,
    entry,
    read: gateway.read(name, { source, entry }, project),
  }));
  let started = false;

  async function record(type: string, { name }: UpstreamSettings, more: object = {}): Promise<void> {
    const log = await parts.audit();
    await log.record(
      { type, at: clock.now(), organization: 'org_local', data: { server: name, by: facts.user.name, ...more } },
      { level: 'full', essential: true },
    );
  }

  /** The file as it is now: what this process has read may be older. Of a broken one nobody knows what it names. */
  async function sweep(): Promise<void> {
    const now = await loadConfig(facts, { home });
    if (now.ok) await gateway.packages.sweep(new Set([...Object.keys(now.config.mcp_servers), ...Object.keys(config.mcp_servers)]));
  }

  return {
    servers,
    approvals: gateway.approvals,
    secrets: gateway.secrets,
    operator: facts.user.name,
    check: (name, entry) => gateway.read(name, { source: 'operator', entry }, project),
    mask: (settings) => maskSettings(settings, redactor),
    // Servers of another Writ home have other approvals.
    actsForAgent: () => actsForSomeAgent(process.pid, (argv, told) => isServer(argv) && (told === null || isHome(told, facts, home))),
    async look(settings) {
      started = true;
      const view = gateway.pool.view([settings]);
      const upstream = view.get(settings.name);
      if (upstream === undefined) throw new AppError('internal', 'A server that was just configured is gone.');
      await upstream.start();
      const looked = { status: upstream.status(), tools: upstream.tools(), log: gateway.logOf(keyOf(settings)).lines() };
      await view.close();
      return looked;
    },
    packageOf: gateway.packages.look,
    async install(settings, options = {}, signal = new AbortController().signal) {
      started = true;
      const installed = await gateway.packages.install(settings, { ...options, by: facts.user.name }, signal);
      if (installed.type !== 'installed') return installed;
      const { record: made, undo } = installed;
      try {
        await record('upstream.installed', settings, {
          package: made.package,
          version: made.package_version,
          integrity: made.integrity,
          lock: made.lock,
        });
      } catch (thrown) {
        await undo();
        throw thrown;
      }
      await sweep();
      return installed;
    },
    async uninstall(key) {
      started = true;
      const was = await gateway.packages.remove(key);
      await sweep();
      return was;
    },
    async login(settings) {
      const [{ openLogin, openLoginAtServer }, { loginBase }] = await Promise.all([
        import('./upstream-login.ts'),
        import('./login-base.ts'),
      ]);
      const base = await loginBase(config.server, facts, home);
      const here = {
        logins: await gateway.logins(),
        person: facts.user.name,
        record: () => record('upstream.login', settings),
      };
      return base === undefined ? openLogin(settings, here) : openLoginAtServer(settings, base, here);
    },
    async answerLogin(settings, address) {
      const [{ answerLogin }, logins] = await Promise.all([import('./upstream-login.ts'), gateway.logins()]);
      await answerLogin(settings, address, { logins, person: facts.user.name, record: () => record('upstream.login', settings) });
    },
    running: async () => (await import('./ask-running.ts')).findRunning({ home, uid: facts.uid, version: parts.version }),
    async logout(settings) {
      const forgotten = await (await gateway.logins()).forget(settings);
      if (forgotten.was) await record('upstream.logout', settings);
      return forgotten;
    },
    imports: (from) =>
      readImports(from, {
        home: facts.user.home,
        redactor,
        fits: (path) => gateway.read('x', { source: 'operator', entry: { command: 'x', roots: [path] } }, undefined).ok,
      }),
    async write(changes) {
      const { writeServers } = await import('../../kernel/config/write-servers.ts');
      const written = await writeServers({ home, uid: facts.uid, now: clock.now() }, () => changes);
      const log = await parts.audit();
      const data = { servers: changes.map(({ name, entry }) => ({ name, removed: entry === undefined })), by: facts.user.name };
      await log.record(
        { type: 'upstream.configured', at: clock.now(), organization: 'org_local', data },
        { level: 'full', essential: true },
      );
      return written;
    },
    async close() {
      await gateway.close();
      if (started) await (await parts.execution()).close();
    },
  };
}

function isHome(told: string | undefined, { user }: ProcessFacts, home: string): boolean {
  try {
    return realpathSync(told || join(user.home ?? '/', '.writ')) === home;
  } catch {
    return false;
  }
}

/** `writ mcp`, whatever options Node was given for it; not what only starts it (`timeout 60 node ... mcp`), which hangs under somebody else. */
function isServer(argv: readonly string[]): boolean {
  const at = argv.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  return argv[at + 1] === 'mcp' && /(^|\/)(writ(\.mjs)?|cli\.[jt]s)$/.test(argv[at] ?? '');
}
