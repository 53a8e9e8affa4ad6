import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { openClient, type UpstreamClient } from './client.ts';
import { METHOD_UNKNOWN } from './exchange.ts';
import { createHttpCarrier } from './http-carrier.ts';

/** The older transport over HTTP: answers come on a stream that a GET opens, which names the address that messages are posted to. */

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function listening(handler: Handler): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    handler(request, response, body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What such a server says to a POST at the address of its stream differs. */
function olderServer(refusal: number, seen: string[] = []): Handler {
  let stream: ServerResponse | undefined;
  return (request, response, body) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages?session=1\n\n');
    } else if (request.url !== '/messages?session=1') response.writeHead(refusal).end('<html>Cannot POST</html>');
    else {
      response.writeHead(202).end();
      const { id, method, params } = JSON.parse(body);
      const result =
        method === 'initialize'
          ? { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'older', version: '1' } }
          : { echo: params };
      if (id !== undefined) stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    }
  };
}

async function open(url: string, type: 'http' | 'sse', timeout_ms = 20_000): Promise<UpstreamClient> {
  const client = await openClient({
    carrier: createHttpCarrier({
      type,
      url: `${url}/sse`,
      headers: { 'x-key': 'k' },
      max_bytes: 1024 * 1024,
      fetch,
      close: async () => {},
    }),
    served: { request: async () => METHOD_UNKNOWN, notification() {} },
    logger: silentLogger,
    version: '1.2.3',
    timeout_ms,
    signal: new AbortController().signal,
  });
  opened.push(client);
  return client;
}

test.each([
  ['sse', 404],
  ['http', 400],
  ['http', 404],
  ['http', 405],
] as const)('configured as %s, and with HTTP %i to what is posted, it is reached by its stream', async (type, refusal) => {
  const client = await open(await listening(olderServer(refusal)), type);
  expect(client).toMatchObject({ era: 'handshake', identity: { name: 'older', version: '1' } });
  expect(await client.request('tools/call', { name: 'x' }, { timeout_ms: 5_000 })).toMatchObject({
    ok: true,
    result: { echo: { name: 'x' } },
  });
});

test.each([401, 403, 500])('HTTP %i says something else: no stream is asked for', async (refusal) => {
  const seen: string[] = [];
  await expect(open(await listening(olderServer(refusal, seen)), 'http')).rejects.toThrow(`HTTP ${refusal}`);
  expect(seen.filter((one) => one.startsWith('GET'))).toEqual([]);
});

test('where there is no stream either, what was said first is the reason', async () => {
  const url = await listening((request, response) => response.writeHead(request.method === 'GET' ? 501 : 404).end('no such page'));
  await expect(open(url, 'http')).rejects.toThrow(/HTTP 404: .*no such page/);
});

test('a stream that names no address ends with the time there is', async () => {
  const url = await listening((request, response) => {
    if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    else response.writeHead(404).end();
  });
  await expect(open(url, 'http', 1_000)).rejects.toThrow(/within|not answer|time/);
});
