import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Leave } from './egress.ts';
import { readHost } from './host-name.ts';
import { readOutwardUrl } from './outward-url.ts';
import { joinSockets, sayLast } from './tunnel.ts';

const MAX_HEADER_BYTES = 32 * 1024;
/** A request that hasn't said what it wants by then isn't waited for. */
const HEADER_MS = 15_000;
/** A server that stays silent for so long is given up. */
const SILENT_MS = 600_000;

/** Between two neighbours only (RFC 9110 7.6.1). `expect` is answered here; `host` is written anew. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade expect host'.split(
    ' ',
  ),
);

/**
 * HTTP as proxies speak it: absolute-form requests and CONNECT, one request a connection, so that nothing of a second one can ride on
 * the first. Node's strict parser reads it; what two parsers could read differently is refused on top.
 */
export function createHttpProxy(leave: Leave, signal: AbortSignal): (client: Socket) => void {
  const timers = new WeakMap<Duplex, NodeJS.Timeout>();
  const server: Server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    requireHostHeader: true,
    keepAliveTimeout: 1,
  });
  const understood = (socket: Duplex): void => clearTimeout(timers.get(socket));

  server.on('request', (incoming, response) => {
    understood(incoming.socket);
    response.shouldKeepAlive = false;
    forward(incoming, response, leave, signal).catch((thrown: unknown) => answer(response, 502, String(thrown)));
  });
  server.on('connect', (incoming, client, head) => {
    understood(client);
    // Of our own making, but typed as any stream.
    if (client instanceof Socket) tunnel(incoming, client, head, leave, signal).catch(() => client.destroy());
    else client.destroy();
  });
  server.on('clientError', (_error, client) => {
    understood(client);
    if (client.writable && client instanceof Socket) sayLast(client, plain(400, 'this is not a request that a proxy can serve'));
    else client.destroy();
  });

  return (client) => {
    client.on('error', () => client.destroy());
    const timer = setTimeout(() => client.destroy(), HEADER_MS);
    timers.set(client, timer);
    client.on('close', () => clearTimeout(timer));
    server.emit('connection', client);
  };
}

/** Why a request must not be read at all. */
function smuggled(incoming: IncomingMessage): string | undefined {
  const names = incoming.rawHeaders.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const count = (name: string): number => names.filter((one) => one === name).length;
  if (count('host') > 1) return 'more than one Host';
  const lengths = count('content-length');
  const encodings = count('transfer-encoding');
  if (lengths + encodings > 1) return 'more than one length';
  if (encodings === 1 && incoming.headers['transfer-encoding']?.toLowerCase() !== 'chunked') return 'an unknown transfer encoding';
  if (incoming.method === 'CONNECT' && lengths + encodings > 0) return 'a CONNECT with a body';
  return undefined;
}

/** Whether a Host header (where there is one) names what the request line names. */
function sameHost(header: string | undefined, host: string, port: number, usual: number): boolean {
  if (header === undefined) return true;
  const [, name, given] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(header) ?? [];
  if (name === undefined) return false;
  const [one, other] = [readHost(name), readHost(host)];
  const same =
    one.kind === 'name' && other.kind === 'name'
      ? one.name === other.name
      : one.kind === 'address' && other.kind === 'address' && one.address === other.address;
  return same && (given === undefined ? usual : Number(given)) === port;
}

async function forward(incoming: IncomingMessage, response: ServerResponse, leave: Leave, signal: AbortSignal): Promise<void> {
  const target = incoming.url ?? '';
  const bad = smuggled(incoming);
  if (bad !== undefined) return answer(response, 400, `refused: ${bad}`);
  if (target.startsWith('/') || target === '*') return answer(response, 400, 'this is a proxy; it serves absolute addresses');
  const read = readOutwardUrl(target);
  if (!read.ok) return answer(response, 403, `refused: ${read.reason}`);
  if (read.url.protocol !== 'http:') return answer(response, 400, 'https goes through CONNECT');
  const { hostname } = read.url;
  if (!sameHost(incoming.headers.host, hostname, read.port, 80))
    return answer(response, 400, 'refused: Host is not what the request names');

  const left = await leave(hostname, read.port, signal);
  if (left.type !== 'connected') return answer(response, left.type === 'refused' ? 403 : 502, left.text);
  const { socket } = left;
  if (incoming.destroyed || response.destroyed) {
    socket.destroy();
    return;
  }
  // As it was sent: another spelling of a path may be another resource.
  const path = target.replace(/^http:\/\/[^/?#]*/i, '').replace(/#.*$/, '');
  const length = incoming.headers['content-length'];
  const outgoing = request({
    method: incoming.method ?? 'GET',
    path: path.startsWith('/') ? path : `/${path}`,
    headers: [
      'Host',
      read.url.host,
      ...endToEnd(incoming.rawHeaders),
      ...(length === undefined && incoming.headers['transfer-encoding'] !== undefined ? ['Transfer-Encoding', 'chunked'] : []),
      'Connection',
      'close',
    ],
    createConnection: () => socket,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const end = (): void => void socket.destroy();
  // A client that has gone takes nothing more.
  response.on('error', end);
  response.on('close', end);
  socket.setTimeout(SILENT_MS, end);
  incoming.on('error', end);
  outgoing.on('error', () => answer(response, 502, `${read.url.host} ended the connection`));
  outgoing.on('response', (result) => {
    try {
      // With the usual words for its status: what a server says there may be read and still not be written again.
      response.writeHead(result.statusCode ?? 502, [...endToEnd(result.rawHeaders), 'Connection', 'close']);
    } catch {
      // The same in a header; it is no reason to fall over.
      result.destroy();
      response.destroy();
      return;
    }
    result.on('error', () => response.destroy());
    result.pipe(response);
  });
  const unanswered = (): void => answer(response, 502, `${read.url.host} did not answer as HTTP does`);
  outgoing.on('upgrade', (_result, other) => {
    other.destroy();
    unanswered();
  });
  outgoing.on('close', () => response.headersSent || unanswered());
  incoming.pipe(outgoing);
}

async function tunnel(incoming: IncomingMessage, client: Socket, head: Buffer, leave: Leave, signal: AbortSignal): Promise<void> {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[^:/?#@\s]+):(\d{1,5})$/.exec(incoming.url ?? '') ?? [];
  const bad = smuggled(incoming);
  if (bad !== undefined || host === undefined || port === undefined) {
    sayLast(client, plain(400, `refused: ${bad ?? 'CONNECT takes host:port'}`));
    return;
  }
  if (!sameHost(incoming.headers.host, host, Number(port), Number(port))) {
    sayLast(client, plain(400, 'refused: Host is not what the request names'));
    return;
  }
  const left = await leave(host, Number(port), signal);
  if (left.type !== 'connected') {
    sayLast(client, plain(left.type === 'refused' ? 403 : 502, left.text));
    return;
  }
  if (client.destroyed) {
    left.socket.destroy();
    return;
  }
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) left.socket.write(head);
  joinSockets(client, left.socket);
}

/** Without what is meant for this connection alone, be it by the standard or by its own Connection header. */
function endToEnd(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((one) => one.trim());
  return pairs.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && !named.includes(name.toLowerCase())).flat();
}

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };

function plain(status: number, text: string): string {
  const body = `writ: ${text}\n`;
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

function answer(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = `writ: ${text}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}
