import { request } from 'node:http';
import { connect } from 'node:net';
import { MODERN_META } from '../client.ts';

/** Plain HTTP, without any MCP client's good manners. */

export type Message = Record<string, unknown>;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body: one message, or all events of a stream. */
  readonly messages: Message[];
}

export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  onEvent?(message: Message): void;
}

/** One HTTP request on a connection of its own; a string or bytes as body go as they are. */
export function ask(url: string, { method = 'POST', headers = {}, body, signal, onEvent }: Ask): Promise<Reply> {
  const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const all = Object.fromEntries(Object.entries({ ...JSON_HEADERS, ...headers }).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: all as Record<string, string>, agent: false, ...(signal ? { signal } : {}) },
      (response) => {
        const messages: Message[] = [];
        let text = '';
        let seen = 0;
        const isStream = response.headers['content-type'] === 'text/event-stream';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (!isStream) return;
          for (let end = text.indexOf('\n\n', seen); end !== -1; end = text.indexOf('\n\n', seen)) {
            const data = /^data: (.+)$/m.exec(text.slice(seen, end))?.[1];
            seen = end + 2;
            if (data === undefined) continue;
            messages.push(JSON.parse(data) as Message);
            onEvent?.(messages.at(-1) as Message);
          }
        });
        response.on('error', reject);
        response.on('end', () => {
          if (!isStream && text !== '') messages.push(JSON.parse(text) as Message);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, messages });
        });
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** A right request of 2026-07-28; `headers` of undefined are left out. */
export function modern(url: string, id: unknown, method: string, params: Message = {}, rest: Ask = {}): Promise<Reply> {
  const name = params['name'] ?? params['uri'];
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    ...rest.headers,
  };
  return ask(url, { body: { jsonrpc: '2.0', id, method, params: { _meta: MODERN_META, ...params } }, ...rest, headers });
}

export interface Opened {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  call(id: unknown, name: string, args?: Message, rest?: Ask): Promise<Reply>;
  send(body: unknown, rest?: Ask): Promise<Reply>;
}

/** A session as `initialize` begins it. */
export async function open(url: string, revision = '2025-11-25', capabilities: Message = {}, as = 'nobody'): Promise<Opened> {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1' } };
  const began = await ask(url, { headers: { authorization: as }, body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
  const id = String(began.headers['mcp-session-id']);
  const headers = { authorization: as, 'mcp-session-id': id, 'mcp-protocol-version': revision };
  const send = (body: unknown, rest: Ask = {}): Promise<Reply> => ask(url, { body, ...rest, headers: { ...headers, ...rest.headers } });
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    id,
    headers,
    send,
    call: (requestId, name, args = {}, rest = {}) =>
      send(
        {
          jsonrpc: '2.0',
          id: requestId,
          method: 'tools/call',
          params: { name, arguments: args, ...(rest.onEvent ? { _meta: { progressToken: 'p' } } : {}) },
        },
        rest,
      ),
  };
}

/** Bytes over a socket of its own: what comes back until the other side closes. `hold` keeps our side open. */
export function raw(port: number, bytes: string, hold = true): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(bytes);
      if (!hold) socket.end();
    });
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('end', () => {
      socket.destroy();
      resolve(text);
    });
  });
}

/** Resolves when it is true; the test's own timeout is the bound. */
export async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await new Promise((resolve) => setImmediate(resolve));
}

/** A member of the answer's result, or of its error. */
export function member(reply: Reply, part: 'result' | 'error', ...path: readonly string[]): unknown {
  let value: unknown = reply.messages.at(-1)?.[part];
  for (const name of path) value = (value as Message | undefined)?.[name];
  return value;
}
