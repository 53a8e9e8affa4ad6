import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Foreign } from '../../../src/mcp/index.ts';
import { MODERN_META } from '../client.ts';
import { ask, JSON_HEADERS, type Message, member, modern, open, raw, until } from './client.ts';
import { serve, type TestServer } from './server.ts';

const MIB = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** A request as bytes; the body's length is told unless a header of one's own does. */
function bytes(headers: readonly string[], body: unknown = LIST): string {
  const text = JSON.stringify(body);
  const all = ['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${server.port}`, 'Content-Type: application/json', ...headers];
  return `${all.join('\r\n')}\r\n\r\n${text}`;
}

test.each<[string, Message, number]>([
  ['our name', { host: 'localhost:1' }, 400],
  ['our name in capitals', { host: 'LOCALHOST' }, 400],
  ['a name that was made to mean this machine', { host: 'evil.example' }, 403],
  ['a name with ours in it', { host: 'localhost.evil.example' }, 403],
  ['an address that is not ours', { host: '127.0.0.2' }, 403],
  ['our own origin', { host: 'localhost:7420', origin: 'http://localhost:7420' }, 400],
  ['another origin', { origin: 'http://evil.example' }, 403],
  ['another port of this machine', { host: 'localhost:7420', origin: 'http://localhost:3000' }, 403],
  ['a page without one', { origin: 'null' }, 403],
])('Host and Origin: %s', async (_, headers, status) => {
  for (const method of ['POST', 'GET', 'DELETE']) {
    const answered = await ask(server.url, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'POST' ? { body: LIST } : {}),
    });
    // Not refused at the door means that only the session is missing.
    expect(answered.status).toBe(status === 400 && method === 'GET' ? 405 : status);
  }
});

test.each<[string, readonly string[], string]>([
  ['two hosts', ['Host: evil.example', 'Content-Length: 46'], '403'],
  ['no length', [], '400'],
  ['two lengths', ['Content-Length: 46', 'Content-Length: 5'], '400'],
  ['length and chunks', ['Content-Length: 46', 'Transfer-Encoding: chunked'], '400'],
  ['a folded header', ['X-A: b', ' c: d', 'Content-Length: 46'], '400'],
  ['a bare carriage return', ['X-A: b\rTransfer-Encoding: chunked', 'Content-Length: 46'], '400'],
  ['a space before the colon', ['Transfer-Encoding : chunked', 'Content-Length: 46'], '400'],
  ['NUL in a header', ['Mcp-Session-Id: a\0b', 'Content-Length: 46'], '400'],
  ['more headers than fit', [`X-A: ${'x'.repeat(20_000)}`, 'Content-Length: 46'], '431'],
])('smuggling: %s', async (_, headers, status) => {
  const text = await raw(server.port, bytes([...headers, 'Accept: */*', 'Connection: close']));
  expect(text.match(/^HTTP\/1\.1 (\d+)/)?.[1]).toBe(status);
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test('what follows a body that was refused unread is not taken for a request', async () => {
  const inner = bytes(['Content-Length: 46', 'Accept: */*']);
  const text = await raw(server.port, bytes([`Content-Length: ${inner.length}`, 'Accept: text/html']).replace(JSON.stringify(LIST), inner));
  expect(text.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 406']);
});

test.each<[string, Message, number]>([
  ['no type', { 'content-type': undefined }, 415],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['a type with ours in it', { 'content-type': 'text/plain; application/json' }, 415],
  ['another charset', { 'content-type': 'application/json; charset=utf-16' }, 415],
  ['packed', { 'content-encoding': 'gzip' }, 415],
  ['only JSON accepted', { accept: 'application/json' }, 406],
  ['only events accepted', { accept: 'text/event-stream' }, 406],
  ['events not at all', { accept: 'application/json, text/event-stream;q=0' }, 406],
  ['anything accepted', { accept: '*/*' }, 400],
  ['families accepted', { accept: 'application/*;q=0.5, text/*' }, 400],
  ['nothing said', { accept: undefined }, 400],
  ['a charset said', { 'content-type': 'Application/JSON; charset="UTF-8"' }, 400],
])('kind of request: %s', async (_, headers, status) => {
  expect((await ask(server.url, { headers: headers as Record<string, string>, body: LIST })).status).toBe(status);
});

test.each<[string, string | Uint8Array, number]>([
  ['nothing', '', -32700],
  ['no JSON', '{"jsonrpc":', -32700],
  ['two messages', '{}{}', -32700],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), -32700],
  ['a number', '7', -32600],
  ['null', 'null', -32600],
  ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602],
  ['a million brackets', '['.repeat(1_000_000), -32600],
])('a body that is %s: 400', async (_, body, code) => {
  const answered = await ask(server.url, { body });
  expect([answered.status, member(answered, 'error', 'code')]).toEqual([400, code]);
});

test.each(['PUT', 'PATCH', 'OPTIONS', 'HEAD'])('%s is not allowed', async (method) => {
  expect(await ask(server.url, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } });
});

test('8 MiB fit; more is refused, told beforehand or not', async () => {
  const fits = { name: 'echo', arguments: { text: 'x'.repeat(7 * MIB) } };
  expect(await modern(server.url, 1, 'tools/call', fits)).toMatchObject({ status: 200 });
  const head = ['Accept: */*', 'Connection: close'];
  expect(await raw(server.port, bytes([...head, `Content-Length: ${8 * MIB + 1}`]))).toMatch(/^HTTP\/1\.1 413 /);
  const socket = connect(server.port, '127.0.0.1');
  const told = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
  socket.on('error', () => {});
  socket.write(bytes([...head, 'Transfer-Encoding: chunked']).replace(JSON.stringify(LIST), ''));
  for (let sent = 0; sent <= 8 * MIB; sent += MIB) socket.write(`100000\r\n${'x'.repeat(MIB)}\r\n`);
  expect(await told).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test('an answer that is too big or broken is an error of its call', async () => {
  for (const [name, text] of [
    ['huge', `${9 * MIB}`],
    ['broken', ''],
  ]) {
    expect(await modern(server.url, 4, 'tools/call', { name, arguments: { text } })).toMatchObject({
      messages: [{ id: 4, error: { code: -32603 } }],
    });
  }
});

test('headers and bodies that never end are cut off', async () => {
  const impatient = await serve({ options: { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 } });
  expect(await raw(impatient.port, 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n')).toMatch(/^HTTP\/1\.1 408 /);
  expect(await raw(impatient.port, bytes(['Accept: */*', 'Content-Length: 47']))).toMatch(/^HTTP\/1\.1 408 /);
  await impatient.close();
});

test('half-closed: a client that only stops sending has gone away, and its call is cancelled', async () => {
  const params = {
    name: 'wait',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const headers = ['Accept: */*', 'MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/call', 'Mcp-Name: wait'];
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(bytes([...headers, `Content-Length: ${JSON.stringify(body).length}`], body));
  await until(() => server.gate.waiting === 1);
  socket.end();
  await until(() => server.gate.waiting === 0);
  socket.destroy();
});

test('more calls of one agent at once than 64 are told so, over all its sessions, and another agent is not', async () => {
  const sessions = await Promise.all([1, 2].map(() => open(server.url, '2025-11-25', {}, 'greedy')));
  const calls = Array.from({ length: 64 }, (_, index) => sessions[index % 2]?.call(1, 'wait'));
  await until(() => server.gate.waiting === 64);
  const refused = await modern(server.url, 2, 'tools/call', { name: 'wait', arguments: {} }, { headers: { authorization: 'greedy' } });
  expect(refused).toMatchObject({ status: 200, messages: [{ result: { isError: true, _meta: { 'writ/refusal': { code: 'busy' } } } }] });
  const other = modern(
    server.url,
    2,
    'tools/call',
    { name: 'echo', arguments: { text: 'free' } },
    { headers: { authorization: 'modest' } },
  );
  expect(await other).toMatchObject({ messages: [{ result: { isError: false } }] });
  while (server.gate.waiting > 0) server.gate.release();
  await Promise.all(calls);
});

test('more streams than 16 of one agent are refused', async () => {
  const gone = new AbortController();
  const sessions = await Promise.all(Array.from({ length: 17 }, () => open(server.url, '2025-11-25', {}, 'listener')));
  const statuses: number[] = [];
  for (const { headers } of sessions) {
    void ask(server.url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' }, signal: gone.signal }).then(
      ({ status }) => statuses.push(status),
      () => {},
    );
  }
  await until(() => statuses.length > 0);
  expect(statuses).toEqual([429]);
  gone.abort();
});

test('more requests of one agent at once than 160 are refused, until some are over', async () => {
  const status = async (): Promise<number> => (await ask(server.url, { headers: { authorization: 'crowd' }, body: LIST })).status;
  const unfinished = bytes(['Accept: */*', 'Authorization: crowd', 'Content-Length: 47']);
  const sockets = Array.from({ length: 160 }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
  for (const socket of sockets) socket.write(unfinished);
  await expect.poll(status, { timeout: 20_000 }).toBe(429);
  for (const socket of sockets) socket.destroy();
  await expect.poll(status, { timeout: 20_000 }).toBe(400);
});

test('a client that is gone before its credential was found leaves nothing', async () => {
  let gone = 0;
  const closed = (response: ServerResponse): Promise<void> =>
    new Promise((resolve) =>
      response.on('close', () => {
        gone++;
        resolve();
      }),
    );
  const other = await serve({ enter: (response) => (gone < 200 ? closed(response) : Promise.resolve()) });
  for (let i = 0; i < 200; i++) {
    const socket = connect(other.port, '127.0.0.1').on('error', () => {});
    socket.write(bytes(['Accept: */*', 'Content-Length: 46']), () => socket.destroy());
  }
  await until(() => gone === 200);
  // Had they been counted, more than 160 would be open.
  expect((await ask(other.url, { body: LIST })).status).toBe(400);
  await other.close();
});

test('a client that is refused may finish sending: its connection is closed after that, not reset before', async () => {
  const accepted = new Promise<Socket>((resolve) => server.server.once('connection', resolve));
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(bytes(['Accept: text/html', 'Content-Length: 100000'], '').slice(0, -2));
  const closed = new Promise<number>((resolve) => void accepted.then((each) => each.on('close', () => resolve(each.bytesRead))));
  const answer = String(await new Promise((resolve) => socket.once('data', resolve)));
  expect(answer).toMatch(/^HTTP\/1\.1 406 .*Accept must list/s);
  socket.end('x'.repeat(100_000));
  expect(await closed).toBeGreaterThan(100_000);
  socket.destroy();
});

test('a client that does not read is cut off when it makes us keep too much', async () => {
  const { headers } = await open(server.url, '2025-11-25', {}, 'deaf');
  const params = { name: 'huge', arguments: { text: String(3 * MIB) } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const head = Object.entries({ ...JSON_HEADERS, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const text = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sockets = Array.from({ length: 16 }, () =>
    connect(server.port, '127.0.0.1')
      .pause()
      .on('error', () => {}),
  );
  for (const socket of sockets) socket.write(text);
  await until(() => server.logged.some((line) => line.startsWith('a client does not read its answers')));
  for (const socket of sockets) socket.destroy();
});

test('a revoked credential takes its calls and streams with it', async () => {
  const session = await open(server.url, '2025-11-25', {}, 'fired');
  const waiting = session.call(1, 'wait');
  const listening = ask(server.url, { method: 'GET', headers: { ...session.headers, accept: 'text/event-stream' } });
  // Whichever way it ends, it ends.
  const ended = Promise.allSettled([waiting, listening]);
  await until(() => server.gate.waiting === 1);
  server.revoke('fired');
  expect((await ended)[0].status).toBe('rejected');
  expect(server.gate.waiting).toBe(0);
  expect((await session.call(2, 'echo')).status).toBe(401);
});

test('a call that waits for its client between two requests ends with its credential', async () => {
  const other = await serve({ parts: { foreign: () => ({ has: () => true, mirrored: () => [] }) as unknown as Foreign } });
  const rest = { headers: { authorization: 'fired' } };
  const meta = { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const asked = await modern(other.url, 1, 'tools/call', { name: 'elicit', arguments: { text: 'Who?' }, _meta: meta }, rest);
  expect(member(asked, 'result', 'requestState')).toMatch(/^held\./);
  const [call] = other.gate.seen;
  expect(call?.signal.aborted).toBe(false);
  other.revoke('fired');
  expect(call?.signal.reason).toMatchObject({ code: 'cancelled', message: 'The credential was revoked.' });
  await other.close();
});

test('what goes on without its client ends with its credential, and when the server closes', async () => {
  const other = await serve();
  const leave = async (as: string): Promise<void> => {
    const session = await open(other.url, '2025-11-25', {}, as);
    const gone = new AbortController();
    const call = session.call(1, 'wait', {}, { signal: gone.signal });
    await until(() => other.gate.waiting === 1);
    gone.abort();
    await expect(call).rejects.toThrow();
    // Seen to be gone by the time that this is answered.
    expect((await session.call(2, 'echo')).status).toBe(200);
    expect(other.gate.waiting).toBe(1);
  };
  await leave('fired');
  other.revoke('fired');
  await until(() => other.gate.waiting === 0);
  await leave('late');
  await other.close();
  expect(other.gate.waiting).toBe(0);
});

test('a client that goes away in the middle of a body leaves nothing', async () => {
  for (let i = 0; i < 20; i++) {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    await new Promise((sent) => socket.write(bytes(['Accept: */*', `Content-Length: ${4 * MIB}`], 'x'.repeat(3 * MIB)), sent));
    socket.destroy();
  }
  // Had it been kept, it would be over what one agent may make us hold.
  expect((await modern(server.url, 1, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(5 * MIB) } })).status).toBe(200);
});

test('closing answers what runs and lets nothing new in', async () => {
  const other = await serve();
  const session = await open(other.url);
  const waiting = session.call(1, 'wait');
  await until(() => other.gate.waiting === 1);
  const closed = other.handler.close();
  expect((await session.call(2, 'echo')).status).toBe(503);
  expect(await waiting).toMatchObject({ messages: [{ id: 1, result: { isError: true } }] });
  await closed;
  await other.close();
});
