import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type AskedBy, askedByConnection } from '../../approvals/index.ts';
import type { Up } from '../../cli/index.ts';
import type { Execution } from '../../execution/index.ts';
import {
  API,
  type Bearers,
  createApi,
  createBearers,
  createHealth,
  createLoginRoutes,
  createOperatorSessions,
  createRefusals,
  listen,
  type McpEndpoint,
  type Page,
  sendJson,
} from '../../http/index.ts';
import { type AgentToken, createHomeSigner, type Identity } from '../../identity/index.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import { createMcpHandler, type Door, rejection, type ServerParts, socketPath, TRY_AGAIN, turnAway } from '../../mcp/index.ts';
import type { Browsing } from '../../tools/index.ts';
import { afterStart } from './after-start.ts';
import { agentScope } from './agent-scope.ts';
import { createExecutions } from './executions.ts';
import type { Gateway } from './gateway.ts';
import { answerInquiry, createLiveUpstreams } from './live-upstreams.ts';
import { callbackHosts, loginBaseHere, loginClient } from './login-base.ts';
import { once } from './once.ts';
import { createRunningCalls } from './running-calls.ts';
import { announce, serverUrl } from './server-address.ts';
import { createServersOnDemand } from './servers-on-demand.ts';
import { createServing, type ServingParts } from './serving.ts';
import { keepYoungHeap } from './young-heap.ts';

export interface UpParts extends Omit<ServingParts, 'execution' | 'gateway' | 'watch' | 'approvalUrl'> {
  readonly identity: Identity;
  makeExecution(facts: ProcessFacts, config: Config): Execution;
  /** Flags; the configuration where they are absent. */
  readonly host?: string;
  readonly port?: number;
}

/** Whoever still waits for an answer when everything was answered. */
const GRACE_MS = 2_000;

const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The server of a machine: MCP for agents over HTTP and for the `writ mcp` of this user, health, and the operator's page. It listens
 * first; the rest comes after, and what isn't there yet says so.
 */
export async function startUp(parts: UpParts): Promise<Up> {
  // Loading what comes would widen it once more.
  keepYoungHeap();
  const { facts, home, config, logger, clock, identity } = parts;
  const host = parts.host ?? config.server.host;
  const public_url = config.server.public_url === null ? undefined : new URL(config.server.public_url);
  const hosts = [...namesOf(config.server, host, public_url), ...callbackHosts(facts)];
  const health = createHealth(['store', 'mcp'], ['page', 'socket', 'containment']);
  const refusals = createRefusals({ audit: parts.audit, clock, logger });
  const calls = createRunningCalls(clock);
  const executions = createExecutions(parts.makeExecution);
  const lease = executions.lease(facts, config);
  const origins = [...(public_url ? [public_url.origin] : []), ...config.server.origins];
  const closePages = (close: (browsing: Browsing) => Promise<void>): void => {
    const closed = parts.browsing?.().then(close);
    closed?.catch((thrown: unknown) => logger.warn('a page could not be closed', { reason: toAppError(thrown).message }));
  };
  const mcp = createMcpHandler({
    logger,
    clock,
    signer: createHomeSigner(home),
    hosts,
    origins,
    // Its page has nobody left to look at it.
    runEnded: (run) => closePages((browsing) => browsing.closeRun(run)),
  });
  let bearers: Bearers | undefined;
  let page: Page | undefined;
  let api: ReturnType<typeof createApi> | undefined;
  let door: Door | undefined;

  const loginRoutes = createLoginRoutes({
    hosts,
    refusals,
    client: loginClient(config.server, facts),
    finish: async (answer) => {
      const [{ finishAtServer }, { logins }] = await Promise.all([import('./upstream-login.ts'), gateway()]);
      return finishAtServer(answer, {
        logins: await logins(),
        person: facts.user.name,
        record: async (name) => {
          const log = await parts.audit();
          const data = { server: name, by: facts.user.name };
          await log.record(
            { type: 'upstream.login', at: clock.now(), organization: 'org_local', data },
            { level: 'full', essential: true },
          );
        },
      });
    },
  });

  async function serveMcp(request: IncomingMessage, response: ServerResponse, endpoint: McpEndpoint): Promise<void> {
    if (bearers === undefined) return turnAway(request, response, rejection(503, 'Starting', TRY_AGAIN));
    const bearer = await bearers.authenticate(request.headers.authorization, endpoint);
    if (bearer.type === 'caller') return mcp.handle(request, response, bearer.caller);
    if (bearer.type === 'not_found') return turnAway(request, response, rejection(404, 'Nothing is here'));
    if (request.headers.authorization !== undefined) refusals.record({ route: 'MCP', why: bearer.why });
    turnAway(request, response, rejection(401, bearer.why, ['www-authenticate', 'Bearer realm="writ"']));
  }

  const server = await listen({
    host,
    port: parts.port ?? config.server.port,
    health,
    mcp: (request, response, endpoint) => {
      serveMcp(request, response, endpoint).catch((thrown: unknown) => {
        const error = toAppError(thrown);
        logger.error('a request of an agent failed', { reason: error.message });
        turnAway(request, response, rejection(503, 'Writ can not tell who this is just now', TRY_AGAIN));
      });
    },
    page: (request, response) => {
      if (loginRoutes(request, response)) return;
      const handle = request.url?.startsWith(API) === true ? api : page?.handle;
      if (handle === undefined) sendJson(response, 503, { error: 'starting' }, { 'retry-after': '1' });
      else handle(request, response);
    },
  });
  const url = serverUrl({ ...config.server, host, port: server.port });
  if (!LOOPBACK.includes(host) && host !== '::1' && public_url?.protocol !== 'https:') {
    logger.warn('others on the network can read what goes to and from this server: put a proxy with TLS in front of it', { host });
  }

  let ready: Gateway | undefined;
  const gateway = once(async () => {
    const { createGateway } = await import('./gateway.ts');
    ready = createGateway({ ...parts, execution: async () => lease.execution });
    return ready;
  });
  const live = createLiveUpstreams({ gateway: () => ready, clock, operator: facts.user.name, audit: parts.audit });
  const servingParts: ServingParts = {
    ...parts,
    execution: async () => lease.execution,
    gateway,
    watch: calls.watch,
    approvalUrl: ({ id }) => `${url}/#${id}`,
  };
  const serving = await createServing(servingParts);
  // A server that nobody uses keeps no runner and no assessor in memory; the first request of an agent is soon enough.
  const warmUp = once(serving.warmUp);
  /** Whoever holds a connection is looked for once, as long as it lasts. */
  const askers = new WeakMap<Socket, AskedBy>();
  const askedBy = (connection: Socket): AskedBy => {
    const asker = askers.get(connection) ?? askedByConnection(connection);
    askers.set(connection, asker);
    return asker;
  };
  const byToolset = new Map<string, Omit<ServerParts, 'scopeOf'>>();
  const serve = (token: AgentToken, { workspace }: McpEndpoint): ServerParts | undefined => {
    if (workspace !== undefined && !token.workspaces.includes(workspace)) return undefined;
    const shared = byToolset.get(token.toolset) ?? serving.serverParts(token.toolset);
    byToolset.set(token.toolset, shared);
    warmUp();
    return { ...shared, askedBy, scopeOf: agentScope({ serving, identity, token, only: workspace, facts, home }) };
  };

  /** Each part by itself: one that fails is said and leaves the others as they are. */
  const begin = async (part: string, start: () => Promise<void>): Promise<void> => {
    try {
      await start();
      health.set(part, 'ready');
    } catch (thrown) {
      health.set(part, 'failed');
      const error = toAppError(thrown);
      logger.error(`${part} is not available: ${error.message}`, error.fix === undefined ? {} : { fix: error.fix });
    }
  };
  const openSocket = async (): Promise<void> => {
    const path = socketPath(home);
    if (path === undefined) return logger.warn('the path of the Writ home is too long for a socket: every `writ mcp` works by itself');
    const { serveRelays } = await import('./serve-relays.ts');
    door = await serveRelays({
      ...servingParts,
      path,
      executions,
      answer: (inquiry, say, signal) => answerInquiry(inquiry, live, say, signal),
    });
  };
  // Somebody else who serves this home would make two truths of what runs; that is found out before anything is told to be ready.
  try {
    await openSocket();
    health.set('socket', 'ready');
  } catch (thrown) {
    if (toAppError(thrown).code === 'address_in_use') {
      await Promise.all([server.close(0), lease.release()]);
      throw thrown;
    }
    health.set('socket', 'failed');
    logger.error(`no \`writ mcp\` can be relayed here: ${toAppError(thrown).message}`);
  }
  await begin('store', async () => {
    const log = await parts.audit();
    await log.record({ type: 'server.started', at: clock.now(), organization: 'org_local', data: { host, port: server.port } });
    bearers = createBearers({
      tokens: identity.tokens,
      serve,
      ended: ({ agent }) =>
        closePages((browsing) => browsing.closeAgent({ organization: 'org_local', agent }, 'its credential was revoked or has expired')),
    });
    health.set('mcp', 'ready');
  });
  const pageReady = begin('page', async () => {
    const [{ createPage }, { pageParts }, asking] = await Promise.all([
      import('../../http/index.ts'),
      import('./page-parts.ts'),
      parts.asking(),
    ]);
    const { execution } = lease;
    const servers = createServersOnDemand({
      ...parts,
      live,
      gateway,
      base: loginBaseHere(config.server, facts, server.port),
      openPort: async (its, now) => {
        const { openUpstreams } = await import('./upstreams-port.ts');
        return openUpstreams({ ...parts, gateway: its, config: now, project: undefined, execution: async () => execution });
      },
    });
    const sessions = createOperatorSessions(clock);
    const more = { execution, calls, refusals, asking, sessions, servers, hosts, public_origin: public_url?.origin };
    const forOperator = pageParts({ ...parts, ...more, operator: facts.user.name });
    page = createPage(forOperator);
    api = createApi(forOperator);
    // Whoever a webhook tells of a question has a page to go to from now on.
    asking.approvals.attend('server');
  });
  void begin('containment', async () => {
    // In a runner that ends with it.
    const own = parts.makeExecution(facts, config);
    const probe = await own.probe().finally(() => own.close());
    if (!probe.ok) throw new AppError('containment_unavailable', probe.cause, { fix: probe.fix });
  });
  const endStart = afterStart({ execution: lease.execution, audit: parts.audit, home, logger, clock }, () => {});
  await pageReady;
  const takeBack = announce(home, url);

  async function end(): Promise<void> {
    takeBack();
    health.set('mcp', 'failed');
    await Promise.all([mcp.close(), door?.close(), page?.close()]);
    bearers?.close();
    await server.close(GRACE_MS);
    await endStart();
    await serving.close();
    await (await parts.browsing?.())?.end();
    await executions.close();
    await (await parts.asking()).approvals.close();
    const log = await parts.audit();
    await log
      .record({ type: 'server.ended', at: clock.now(), organization: 'org_local', data: { host, port: server.port } })
      .catch(() => {});
    await log.close();
  }
  let ended: Promise<void> | undefined;

  return {
    url,
    link: async () => `${url}/open#${await identity.links.make()}`,
    probe: () => lease.execution.probe({ fresh: true }),
    async demonstrate() {
      const { demonstrate } = await import('./demonstrate.ts');
      const own = executions.lease(facts, config);
      const log = await parts.audit();
      return demonstrate({
        ...servingParts,
        execution: async () => ({ ...own.execution, close: own.release }),
        // This process goes on with it.
        audit: async () => ({ ...log, close: async () => {} }),
      });
    },
    close() {
      ended ??= end();
      return ended;
    },
  };
}

/** What a `Host` header may say, without port. `0.0.0.0` is an address to listen on and no name: browsers reach loopback by it. */
function namesOf(server: Config['server'], host: string, public_url: URL | undefined): readonly string[] {
  const own = host === '0.0.0.0' || host === '::' ? [] : [host.includes(':') ? `[${host}]` : host];
  const names = [...LOOPBACK, ...own, ...(public_url ? [public_url.hostname] : []), ...server.hosts];
  return [...new Set(names.map((name) => name.toLowerCase()))];
}
