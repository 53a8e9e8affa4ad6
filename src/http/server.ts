import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '../kernel/errors.ts';
import { MCP_SERVER_OPTIONS } from '../mcp/index.ts';
import { type Health, sendJson } from './health.ts';
import { portOwner } from './port-owner.ts';

/** Where a request of an agent goes: the endpoint of all its Workspaces, or of one. */
export interface McpEndpoint {
  readonly workspace?: string;
}

export interface HttpServerParts {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly health: Health;
  mcp(request: IncomingMessage, response: ServerResponse, endpoint: McpEndpoint): void;
  /** Everything else: what people see. */
  page(request: IncomingMessage, response: ServerResponse): void;
}

export interface HttpServer {
  readonly port: number;
  /** Takes no more connections; cuts those that are left after `grace_ms`. */
  close(grace_ms: number): Promise<void>;
}

/** Whatever they are doing: more connections than this are not taken. */
const MAX_CONNECTIONS = 1_024;

const MCP = /^\/mcp(?:\/w\/([a-z0-9][a-z0-9_-]{0,39}))?\/?$/;

/** One port: MCP, health, and the page. AppError address_in_use names who has the port. */
export async function listen({ host, port, health, mcp, page }: HttpServerParts): Promise<HttpServer> {
  const server = createServer({ ...MCP_SERVER_OPTIONS, noDelay: true }, (request, response) => {
    const { url = '' } = request;
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    const endpoint = MCP.exec(path);
    if (endpoint !== null) mcp(request, response, endpoint[1] === undefined ? {} : { workspace: endpoint[1] });
    else if (path === '/healthz' || path === '/readyz') look(request, response, path === '/healthz' ? health.alive : health.ready);
    // An absolute form or `*` is for proxies; taking it would let two readers disagree on the host.
    else if (!path.startsWith('/')) sendJson(response, 400, { error: 'bad request target' });
    else page(request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listening(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: (grace_ms) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), grace_ms);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function look(request: IncomingMessage, response: ServerResponse, answer: (response: ServerResponse) => void): void {
  if (request.method === 'GET' || request.method === 'HEAD') answer(response);
  else sendJson(response, 405, { error: 'method not allowed' }, { allow: 'GET, HEAD' });
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cantListen(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function cantListen(error: NodeJS.ErrnoException, host: string, port: number): AppError {
  const fix = 'Take another one with `writ up --port PORT`, or set server.port in ~/.writ/config.json.';
  if (error.code === 'EADDRINUSE') {
    const owner = portOwner(port);
    return new AppError('address_in_use', `${host}:${port} is taken${owner === undefined ? '' : ` by ${owner}`}.`, { fix });
  }
  if (error.code === 'EACCES') return new AppError('address_in_use', `This user may not listen on ${host}:${port}.`, { fix });
  return new AppError('address_in_use', `Writ can't listen on ${host}:${port}: ${error.message}.`, {
    fix: 'Set server.host in ~/.writ/config.json to an address of this machine, such as 127.0.0.1.',
  });
}
