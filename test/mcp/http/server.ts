import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type Logger, silentLogger } from '../../../src/kernel/logger.ts';
import { createMcpHandler, type HttpCaller, MCP_SERVER_OPTIONS, type McpHandler, type ServerParts } from '../../../src/mcp/index.ts';
import { createFakeGate, type FakeGate, OWNER } from '../fake-gate.ts';

/** The fake gate behind real HTTP on a port of this machine. Agents are whoever the Authorization header says. */

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly gate: FakeGate;
  readonly handler: McpHandler;
  readonly server: Server;
  readonly logged: string[];
  /** Runs whose session its client has ended. */
  readonly ended: string[];
  revoke(agent: string): void;
  close(): Promise<void>;
}

export interface TestServerParts {
  readonly port?: number;
  readonly key?: string;
  readonly parts?: Partial<ServerParts>;
  readonly options?: object;
  /** What takes its time before the handler gets a request, as looking up a credential does. */
  enter?(response: ServerResponse): Promise<void>;
}

export async function serve({ port = 0, key = 'a key', parts = {}, options = {}, enter }: TestServerParts = {}): Promise<TestServer> {
  const gate = createFakeGate();
  const logged: string[] = [];
  const ended: string[] = [];
  const log = (message: string, data?: Record<string, unknown>): void => void logged.push(`${message} ${JSON.stringify(data ?? {})}`);
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const verify = (text: string, signature: string): boolean => {
    const [ours, theirs] = [Buffer.from(sign(text)), Buffer.from(signature)];
    return ours.length === theirs.length && timingSafeEqual(ours, theirs);
  };
  const handler = createMcpHandler({
    logger,
    clock: systemClock,
    signer: { sign, verify },
    hosts: ['127.0.0.1', 'localhost'],
    origins: [],
    runEnded: (run) => void ended.push(run),
  });
  const shared = new Map<string, ServerParts>();
  const revoked = new Map<string, AbortController>();

  function callerOf(agent: string, endpoint: string): HttpCaller {
    const name = `${agent} ${endpoint}`;
    const made = shared.get(name) ?? {
      gate,
      toolset: 'default',
      server: { name: 'writ', version: '0.0.0', title: 'Writ' },
      instructions: 'Use shell.',
      clock: systemClock,
      logger,
      scopeOf: async (peer) => ({ owner: { ...OWNER, agent, run: peer.session ?? 'no session' }, workspaces: [] }),
      ...parts,
    };
    shared.set(name, made);
    const controller = revoked.get(agent) ?? new AbortController();
    revoked.set(agent, controller);
    return { agent, endpoint, parts: made, signal: controller.signal };
  }

  const server = createServer({ ...MCP_SERVER_OPTIONS, ...options }, (request, response) => {
    const handle = (): void => handler.handle(request, response, callerOf(request.headers.authorization ?? 'nobody', request.url ?? '/'));
    if (enter === undefined) handle();
    else void enter(response).then(handle);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const at = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${at}/mcp`,
    port: at,
    gate,
    handler,
    server,
    logged,
    ended,
    revoke: (agent) => revoked.get(agent)?.abort(),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
