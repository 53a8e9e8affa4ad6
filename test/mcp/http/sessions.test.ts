import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, type Message, member, open, until } from './client.ts';
import { serve, type TestServer } from './server.ts';

/** 2025-03-26 to 2025-11-25: a handshake begins a session. */

let server: TestServer;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

const list = (id: unknown): Message => ({ jsonrpc: '2.0', id, method: 'tools/list' });

test('initialize gives an id of visible ASCII; all of a session is one Run, another session is another', async () => {
  const [one, two] = [await open(server.url), await open(server.url)];
  expect(one.id).toMatch(/^[\x21-\x7e]{1,4096}$/);
  expect(one.id).not.toBe(two.id);
  for (const session of [one, one, two]) {
    expect(await session.call(1, 'echo', { text: 'hi' })).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  }
  const runs = server.gate.seen.map(({ owner }) => owner.run);
  expect(runs[0]).toMatch(/^run_/);
  expect([runs[0] === runs[1], runs[1] === runs[2]]).toEqual([true, false]);
});

test('an id works for its agent at its endpoint only', async () => {
  const session = await open(server.url, '2025-11-25', {}, 'alice');
  expect((await session.send(list(1))).status).toBe(200);
  expect(await session.send(list(1), { headers: { authorization: 'mallory' } })).toMatchObject({
    status: 404,
    messages: [{ id: 1, error: { code: -32001, message: 'Session not found' } }],
  });
  expect((await ask(server.url.replace('/mcp', '/mcp/w/other'), { headers: session.headers, body: list(1) })).status).toBe(404);
});

test.each<[string, (id: string) => string]>([
  ['made up', () => '5b6fbd39-8e41-4e0b-a1a3-6d4d5a6e6f7a'],
  ['cut', (id) => id.slice(0, -1)],
  ['with another payload', (id) => `${Buffer.from('["run_x","2025-11-25",null,{}]').toString('base64url')}${id.slice(id.indexOf('.'))}`],
  ['with no signature', (id) => id.slice(0, id.indexOf('.') + 1)],
  ['twice', (id) => `${id}, ${id}`],
  ['huge', (id) => id + 'x'.repeat(5_000)],
])('an id that is %s is unknown', async (_, change) => {
  const { id, headers, send } = await open(server.url);
  expect((await send(list(1), { headers: { ...headers, 'mcp-session-id': change(id) } })).status).toBe(404);
});

test('what needs a session says so where there is none', async () => {
  expect(await ask(server.url, { body: list(3) })).toMatchObject({ status: 400, messages: [{ id: 3, error: { code: -32600 } }] });
  expect((await ask(server.url, { method: 'GET', headers: { accept: 'text/event-stream' } })).status).toBe(405);
  expect((await ask(server.url, { method: 'DELETE' })).status).toBe(400);
  expect((await ask(server.url, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).status).toBe(400);
});

test('a handshake that fails begins nothing; a second one in a session is refused', async () => {
  const failed = await ask(server.url, { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} } });
  expect(failed).toMatchObject({ status: 400, messages: [{ id: 1, error: { code: -32602 } }] });
  expect(failed.headers).not.toHaveProperty('mcp-session-id');
  const { send } = await open(server.url);
  expect((await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })).status).toBe(400);
});

test('a client that declares more than fits a header still gets an id that works', async () => {
  const { id, send } = await open(server.url, '2025-11-25', { experimental: { x: 'x'.repeat(20_000) }, elicitation: {} });
  expect(id.length).toBeLessThan(4_096);
  expect((await send(list(1))).status).toBe(200);
});

test('a version that we do not speak is refused, another one of the era is not', async () => {
  const { send } = await open(server.url);
  expect((await send(list(1), { headers: { 'mcp-protocol-version': '2025-06-18' } })).status).toBe(200);
  expect((await send(list(1), { headers: { 'mcp-protocol-version': undefined } })).status).toBe(200);
  expect(await send(list(1), { headers: { 'mcp-protocol-version': '2024-01-01' } })).toMatchObject({
    status: 400,
    messages: [{ error: { code: -32022 } }],
  });
  // Neither an answer nor an array is a message of 2026-07-28, session or not.
  for (const body of [{ jsonrpc: '2.0', id: 'x', result: {} }, [list(1)]]) {
    expect(await send(body, { headers: { 'mcp-protocol-version': '2026-07-28' } })).toMatchObject({
      status: 400,
      messages: [{ error: { code: -32020 } }],
    });
  }
});

test('a session ends with DELETE, with what runs and listens in it', async () => {
  const session = await open(server.url);
  const listening = ask(server.url, { method: 'GET', headers: { ...session.headers, accept: 'text/event-stream' } });
  const waiting = session.call(1, 'wait');
  await until(() => server.gate.waiting === 1);
  expect((await ask(server.url, { method: 'DELETE', headers: session.headers })).status).toBe(204);
  expect(await waiting).toMatchObject({ status: 200, messages: [{ id: 1, result: { isError: true } }] });
  expect((await listening).status).toBe(200);
  expect(server.ended).toEqual([server.gate.seen.at(-1)?.owner.run]);
  for (const method of ['POST', 'GET', 'DELETE']) {
    expect((await ask(server.url, { method, headers: session.headers, ...(method === 'POST' ? { body: list(1) } : {}) })).status).toBe(404);
  }
  expect(server.ended).toHaveLength(1);
});

test('a second stream takes the place of the first', async () => {
  const { headers } = await open(server.url);
  const gone = new AbortController();
  const listen = (): ReturnType<typeof ask> =>
    ask(server.url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' }, signal: gone.signal });
  const first = listen();
  const second = listen();
  expect(await Promise.race([first, second])).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
  gone.abort();
  await Promise.allSettled([first, second]);
});

test('a lost connection is no wish to cancel; notifications/cancelled is', async () => {
  const session = await open(server.url);
  const gone = new AbortController();
  const lost = session.call(1, 'wait', { text: 'lost' }, { signal: gone.signal });
  await until(() => server.gate.waiting === 1);
  gone.abort();
  await expect(lost).rejects.toThrow();
  // The server has seen it go when this is answered on a newer connection.
  await session.send(list(2));
  expect(server.gate.waiting).toBe(1);
  server.gate.release();

  const cancelled = session.call(3, 'wait');
  await until(() => server.gate.waiting === 1);
  expect((await session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } })).status).toBe(202);
  expect(await cancelled).toMatchObject({ status: 202, text: '' });
  expect(server.gate.waiting).toBe(0);
});

test('batches are of 2025-03-26', async () => {
  const batch = [list(1), { jsonrpc: '2.0', method: 'notifications/x' }, { jsonrpc: '2.0', id: 2, method: 'ping' }, 7];
  const old = await open(server.url, '2025-03-26');
  const answered = await old.send(batch, { headers: { 'mcp-protocol-version': undefined } });
  expect([answered.status, answered.messages]).toMatchObject([
    200,
    [[{ id: 1 }, { id: 2, result: {} }, { id: null, error: { code: -32600 } }]],
  ]);
  expect((await old.send([{ jsonrpc: '2.0', method: 'notifications/x' }])).status).toBe(202);
  expect((await old.send([])).status).toBe(400);
  expect((await (await open(server.url)).send(batch)).status).toBe(400);
});

test('40 calls at once with one id get 40 right answers, in one session and over many', async () => {
  const one = await open(server.url);
  const many = await Promise.all(Array.from({ length: 20 }, () => open(server.url)));
  const sessions = [...Array.from({ length: 20 }, () => one), ...many];
  const answers = Promise.all(sessions.map((session, index) => session.call(1, 'wait', { text: `text ${index}` })));
  await until(() => server.gate.waiting === 40);
  while (server.gate.waiting > 0) server.gate.release();
  expect((await answers).map((answered) => member(answered, 'result', 'structuredContent', 'echo'))).toEqual(
    sessions.map((_, index) => `text ${index}`),
  );
});

test('a restart with the same key leaves sessions as they were, Run and client too; with another key they are unknown', async () => {
  const first = await serve({ key: 'kept' });
  const session = await open(first.url, '2025-06-18', { elicitation: {} }, 'alice');
  await session.call(1, 'echo', { text: 'before' });
  const [before] = first.gate.seen;
  await first.close();

  const second = await serve({ key: 'kept', port: first.port });
  expect(await session.call(1, 'echo', { text: 'after' })).toMatchObject({ status: 200 });
  const [after] = second.gate.seen;
  expect(after?.owner).toEqual(before?.owner);
  expect(after?.client).toEqual({ name: 'test', version: '1', protocol: '2025-06-18' });
  await second.close();

  const third = await serve({ key: 'other', port: first.port });
  expect((await session.call(1, 'echo')).status).toBe(404);
  await third.close();
});

test('roots are asked for on the stream of the call, and the answer comes in by a request of its own', async () => {
  const rooted = await serve({
    parts: {
      scopeOf: async (peer) => ({
        owner: { organization: 'o', agent: 'a', run: 'r', workspace: (await peer.roots()).join() },
        workspaces: [],
      }),
    },
  });
  const session = await open(rooted.url, '2025-11-25', { roots: {} });
  const asked: Message[] = [];
  const answered = await session.call(
    1,
    'echo',
    { text: 'x' },
    {
      onEvent: (event) => {
        asked.push(event);
        if (event['method'] === 'roots/list') {
          void session.send({ jsonrpc: '2.0', id: event['id'], result: { roots: [{ uri: 'file:///somewhere' }] } });
        }
      },
    },
  );
  expect(asked.map(({ method }) => method)).toEqual(['roots/list', undefined]);
  expect(answered.headers['content-type']).toBe('text/event-stream');
  expect(rooted.gate.seen[0]?.owner.workspace).toBe('/somewhere');
  await rooted.close();
});
