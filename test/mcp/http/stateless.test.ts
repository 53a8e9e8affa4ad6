import { afterAll, beforeAll, expect, test } from 'vitest';
import { MODERN_META } from '../client.ts';
import { schemaOf } from '../schema.ts';
import { ask, type Message, member, modern, until } from './client.ts';
import { serve, type TestServer } from './server.ts';

/** 2026-07-28: every request for itself. */

let server: TestServer;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

const schema = schemaOf('2026-07-28');
const call = (id: unknown, name: string, text = '', rest = {}): ReturnType<typeof modern> =>
  modern(server.url, id, 'tools/call', { name, arguments: { text } }, rest);

test('a request is answered with JSON, with no session', async () => {
  const discovered = await modern(server.url, 1, 'server/discover');
  expect(discovered).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  expect(discovered.headers).not.toHaveProperty('mcp-session-id');
  schema.result('server/discover', discovered.messages[0]);
  const answered = await call('a', 'echo', 'hi', { headers: { 'mcp-session-id': 'whatever' } });
  expect(answered).toMatchObject({ status: 200, messages: [{ id: 'a', result: { structuredContent: { echo: 'hi' } } }] });
  schema.result('tools/call', answered.messages[0]);
  expect(server.gate.seen.at(-1)?.owner.run).toBe('no session');
});

test('progress makes it a stream that ends with the answer', async () => {
  const events: Message[] = [];
  const params = { name: 'wait', arguments: { text: 'x' }, _meta: { ...MODERN_META, progressToken: 7 } };
  const answered = await modern(server.url, 1, 'tools/call', params, {
    onEvent: (event) => {
      events.push(event);
      server.gate.release();
    },
  });
  expect(answered.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  expect(events).toMatchObject([{ params: { progressToken: 7, message: 'waiting for x' } }, { id: 1, result: { isError: false } }]);
});

test('a client that goes away has cancelled its request', async () => {
  const gone = new AbortController();
  const waiting = call(1, 'wait', 'x', { signal: gone.signal });
  await until(() => server.gate.waiting === 1);
  gone.abort();
  await expect(waiting).rejects.toThrow();
  await until(() => server.gate.waiting === 0);
  expect(server.gate.seen.at(-1)?.signal.aborted).toBe(true);
});

test('subscriptions/listen is a stream until somebody closes it', async () => {
  const gone = new AbortController();
  const acknowledged = Promise.withResolvers<Message>();
  const listening = modern(
    server.url,
    'l',
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    { signal: gone.signal, onEvent: acknowledged.resolve },
  );
  const first = await acknowledged.promise;
  schema.notification(first);
  gone.abort();
  await expect(listening).rejects.toThrow();
});

test.each<[string, Message, number]>([
  ['no version header', { 'mcp-protocol-version': undefined }, -32020],
  ['another version in the header', { 'mcp-protocol-version': '2025-11-25' }, -32020],
  ['two version headers', { 'mcp-protocol-version': ['2026-07-28', '2026-07-28'] }, -32020],
  ['no method header', { 'mcp-method': undefined }, -32020],
  ['another method', { 'mcp-method': 'tools/list' }, -32020],
  ['the method in capitals', { 'mcp-method': 'TOOLS/CALL' }, -32020],
  ['no name header', { 'mcp-name': undefined }, -32020],
  ['another name', { 'mcp-name': 'refuse' }, -32020],
  ['a name that is not base64', { 'mcp-name': '=?base64?*?=' }, -32020],
])('%s: 400 with %s', async (_, headers, code) => {
  const before = server.gate.seen.length;
  const answered = await call(5, 'echo', 'x', { headers });
  expect([answered.status, member(answered, 'error', 'code'), answered.messages[0]?.['id']]).toEqual([400, code, 5]);
  schema.error(answered.messages[0]);
  expect(server.gate.seen.length).toBe(before);
});

test('a name that does not fit a header comes in base64', async () => {
  const name = 'écho';
  const answered = await call(1, name, '', { headers: { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` } });
  expect([answered.status, member(answered, 'error', 'code')]).toEqual([200, -32602]);
  // Raw UTF-8 in a header is Latin-1 to whoever reads it.
  expect((await call(1, name, '', { headers: { 'mcp-name': Buffer.from(name).toString('latin1') } })).status).toBe(400);
});

test.each<[string, object, Message, number, number]>([
  [
    'an unknown version',
    { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' },
    { 'mcp-protocol-version': '1900-01-01' },
    400,
    -32022,
  ],
  [
    'a version of the older era',
    { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' },
    { 'mcp-protocol-version': '2025-11-25' },
    400,
    -32022,
  ],
  ['a version that is no text', { 'io.modelcontextprotocol/protocolVersion': 1 }, {}, 400, -32602],
  ['no capabilities', { 'io.modelcontextprotocol/clientCapabilities': undefined }, {}, 400, -32602],
  ['no version in the body', { 'io.modelcontextprotocol/protocolVersion': undefined }, {}, 400, -32602],
])('%s', async (_, meta, headers, status, code) => {
  const params = { _meta: { ...MODERN_META, ...meta } };
  const answered = await modern(server.url, 1, 'tools/list', params, { headers: headers as Record<string, string> });
  expect([answered.status, member(answered, 'error', 'code')]).toEqual([status, code]);
});

test('an unknown method is 404 with its error; so are the session methods of the older era', async () => {
  for (const method of ['no/such', 'ping', 'initialize']) {
    const answered = await modern(server.url, 1, method);
    expect([answered.status, member(answered, 'error', 'code')]).toEqual([404, -32601]);
  }
});

test('what a method answers is no HTTP error', async () => {
  const answered = await modern(server.url, 1, 'tools/list', { cursor: 'x' });
  expect([answered.status, member(answered, 'error', 'code')]).toEqual([200, -32602]);
  expect((await call(1, 'refuse', 'denied_by_policy')).status).toBe(200);
});

test('a notification is accepted; initialize, an answer or an array under the new version is not', async () => {
  const headers = { 'mcp-protocol-version': '2026-07-28' };
  const send = async (body: unknown): Promise<number> => (await ask(server.url, { headers, body })).status;
  expect(await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: MODERN_META } })).toBe(202);
  expect(await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })).toBe(400);
  expect(await send({ jsonrpc: '2.0', id: 1, result: {} })).toBe(400);
  expect(await send([{ jsonrpc: '2.0', id: 1, method: 'ping' }])).toBe(400);
});

test('40 calls at once with one id get 40 right answers', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
  const answers = Promise.all(texts.map((text) => call(1, 'wait', text)));
  await until(() => server.gate.waiting === 40);
  while (server.gate.waiting > 0) server.gate.release();
  const echoes = (await answers).map((answered) => member(answered, 'result', 'structuredContent', 'echo'));
  expect(echoes).toEqual(texts);
});
