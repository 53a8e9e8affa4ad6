import { expect, test, vi } from 'vitest';
import { AppError } from '../../src/kernel/errors.ts';
import { MAX_CALLS } from '../../src/mcp/connection.ts';
import type { Foreign, Peer } from '../../src/mcp/index.ts';
import { connect } from './client.ts';
import { OWNER } from './fake-gate.ts';
import type { Message } from './schema.ts';

const HANDSHAKE = ['2025-03-26', '2025-06-18', '2025-11-25'] as const;
const call = (id: unknown, name: string, text?: string, meta?: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { text }, ...(meta && { _meta: meta }) },
});
const error = (message: Message): { code: number; message: string; data?: unknown } => message['error'] as never;
const result = (message: Message): Message => message['result'] as Message;
const content = (message: Message): string[] => (result(message)['content'] as { text: string }[]).map(({ text }) => text);

test.each(HANDSHAKE)('%s: handshake, list, call, refusal', async (revision) => {
  const client = connect();
  expect(result(await client.initialize(revision))).toMatchObject({ protocolVersion: revision, capabilities: { tools: {} } });
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, call(2, 'echo', 'hi'), call(3, 'refuse', 'denied_by_policy'));

  const tools = result(await client.answer(1))['tools'] as Message[];
  expect(tools.map(({ name }) => name)).toEqual(['broken', 'echo', 'huge', 'refuse', 'throw', 'wait']);
  const structured = revision !== '2025-03-26';
  expect('outputSchema' in (tools[0] ?? {})).toBe(structured);
  expect('title' in (tools[0] ?? {})).toBe(structured);

  const echo = await client.answer(2);
  expect(content(echo)).toEqual(['echo: hi']);
  expect(result(echo)['structuredContent']).toEqual(structured ? { echo: 'hi' } : undefined);

  const refusal = await client.answer(3);
  expect(result(refusal)).toMatchObject({ isError: true, _meta: { 'writ/refusal': { code: 'denied_by_policy', action: 'act_2' } } });
  expect(result(refusal)).not.toHaveProperty('structuredContent');
  expect(content(refusal)[0]).toBe(
    'refuse: refused (denied_by_policy)\nWhy: It is denied_by_policy.\nWhat the user can do: Do the thing.\nWhat you should do: ' +
      'Do not retry or rephrase this command; find another way or tell the user what you wanted to do.\nReference: act_2',
  );
  await client.end();
});

test.each([
  ['2025-03-26', 'error'],
  ['2025-06-18', 'error'],
  ['2025-11-25', 'result'],
] as const)('%s: bad arguments are a protocol %s, an unknown tool always an error', async (revision, kind) => {
  const client = connect();
  await client.initialize(revision);
  client.send(call(1, 'refuse', 'invalid_arguments'), call(2, 'nope'), call(3, 'throw'));
  const bad = await client.answer(1);
  expect(kind in bad).toBe(true);
  if (kind === 'error') expect(error(bad)).toMatchObject({ code: -32602, data: { code: 'invalid_arguments' } });
  expect(error(await client.answer(2))).toMatchObject({ code: -32602, data: { code: 'unknown_tool' } });
  const fault = error(await client.answer(3));
  expect(fault.code).toBe(-32603);
  expect(fault.message).not.toContain('hunter2');
  await client.end();
});

test('an unknown version is answered with the newest of the handshake era', async () => {
  for (const asked of ['2024-11-05', '2026-07-28', '1900-01-01', '']) {
    const client = connect();
    expect(result(await client.initialize(asked))['protocolVersion']).toBe('2025-11-25');
    await client.end();
  }
});

test('before the handshake only ping and stateless requests are served; a second handshake is refused', async () => {
  const client = connect();
  client.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, call(3, 'echo'));
  client.send({ jsonrpc: '2.0', id: 4, method: 'nonsense' }, { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} });
  expect(result(await client.answer(1))).toEqual({});
  expect(error(await client.answer(2)).code).toBe(-32602);
  expect(error(await client.answer(3)).code).toBe(-32602);
  expect(error(await client.answer(4)).code).toBe(-32601);
  expect(error(await client.answer(5)).code).toBe(-32602);
  expect(client.gate.seen).toHaveLength(0);
  await client.initialize('2025-06-18');
  client.send({ jsonrpc: '2.0', id: 6, method: 'initialize', params: { protocolVersion: '2025-03-26' } });
  expect(error(await client.answer(6))).toMatchObject({ code: -32600, message: 'Already initialized with 2025-06-18' });
  await client.end();
});

test('2026-07-28: discover, list and call without a handshake, beside a connection of an older revision', async () => {
  const client = connect();
  client.modern(1, 'server/discover');
  expect(result(await client.answer(1))).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'writ' } },
  });
  await client.initialize('2025-03-26');
  client.modern(2, 'tools/list');
  client.modern(3, 'tools/call', { name: 'echo', arguments: { text: 'new' } });
  client.send(call(4, 'echo', 'old'));
  expect(result(await client.answer(2))).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  expect(result(await client.answer(3))).toMatchObject({ resultType: 'complete', structuredContent: { echo: 'new' } });
  expect(result(await client.answer(4))).toEqual({ content: [{ type: 'text', text: 'echo: old' }], isError: false });
  await client.end();
});

test('2026-07-28: unsupported versions, missing metadata and methods that are gone', async () => {
  const client = connect();
  const version = 'io.modelcontextprotocol/protocolVersion';
  const request = (id: number, method: string, meta: object): void => client.send({ jsonrpc: '2.0', id, method, params: { _meta: meta } });
  request(1, 'tools/list', { [version]: '1900-01-01' });
  request(2, 'tools/list', { [version]: '2025-11-25' });
  request(3, 'tools/list', { [version]: '2026-07-28' });
  request(4, 'tools/list', { [version]: 7 });
  for (const id of [1, 2]) {
    const { code, data } = error(await client.answer(id));
    expect(code).toBe(-32022);
    expect(data).toMatchObject({ supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] });
  }
  for (const id of [3, 4]) expect(error(await client.answer(id)).code).toBe(-32602);
  for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'prompts/list', 'resources/list', 'completion/complete']) {
    client.modern(method, method);
    expect(error(await client.answer(method)).code).toBe(-32601);
  }
  await client.end();
});

test('2026-07-28: a subscription is acknowledged, honours nothing, ends silently on cancel and gracefully at the end', async () => {
  const client = connect();
  client.modern('a', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  client.modern('b', 'subscriptions/listen', { notifications: {} });
  client.modern('c', 'subscriptions/listen', { notifications: [] });
  expect(error(await client.answer('c')).code).toBe(-32602);
  for (const id of ['a', 'b']) {
    const ack = await client.take((message) => message['method'] === 'notifications/subscriptions/acknowledged');
    expect(ack['params']).toEqual({ _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: {} });
  }
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
  await client.end();
  expect(result(await client.answer('b'))).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': 'b' } });
  expect(client.received.some((message) => message['id'] === 'a')).toBe(false);
});

test('a resource whose server can not be reached is not acknowledged, and the log says why; where it is asked for by itself, the client hears it', async () => {
  const watch = async (uri: string): Promise<(() => void) | undefined> => {
    if (uri === 'x:good') return () => {};
    throw new AppError('upstream_unavailable', `no way to ${uri}`);
  };
  const client = connect({ foreign: () => ({ watch, instructions: () => '' }) as unknown as Foreign });
  client.modern('a', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['x:good', 'x:bad'] } });
  const ack = await client.take((message) => message['method'] === 'notifications/subscriptions/acknowledged');
  expect(ack['params']).toMatchObject({ notifications: { resourceSubscriptions: ['x:good'] } });
  expect(client.logged.join()).toContain('no way to x:bad');
  await client.initialize('2025-11-25');
  client.send({ jsonrpc: '2.0', id: 'b', method: 'resources/subscribe', params: { uri: 'x:worse' } });
  expect(error(await client.answer('b'))).toMatchObject({ data: { code: 'upstream_unavailable', retryable: true } });
  expect(client.logged.join()).toContain('no way to x:worse');
  await client.end();
});

test('batches: one array of answers in 2025-03-26, an error everywhere else', async () => {
  const batch = [call(1, 'echo', 'a'), { jsonrpc: '2.0', method: 'notifications/x' }, 7, call('1', 'echo', 'b')];
  const old = connect();
  await old.initialize('2025-03-26');
  old.send(batch, [], [{ jsonrpc: '2.0', method: 'notifications/x' }], [[]], new Array(101).fill(1));
  const { batch: answers } = (await old.take((message) => (message['batch'] as unknown[])?.length === 3)) as { batch: Message[] };
  expect(answers.map(({ id }) => id)).toEqual([1, null, '1']);
  await old.take((message) => message['id'] === null && error(message).message.startsWith('A batch holds'));
  await old.take((message) => message['id'] === null && error(message).message.startsWith('A batch holds'));
  const big = (id: number): object => call(id, 'huge', `${5 * 1024 * 1024}`);
  old.send([big(7), big(8)]);
  await old.answer(7);
  await old.answer(8);
  await old.end();

  for (const revision of ['2025-06-18', '2025-11-25']) {
    const client = connect();
    client.send(batch);
    await client.take((message) => error(message).code === -32600);
    await client.initialize(revision);
    client.send(batch);
    const refusal = await client.take((message) => error(message)?.code === -32600);
    expect('id' in refusal).toBe(revision === '2025-06-18');
    expect(client.gate.seen).toHaveLength(0);
    await client.end();
  }
});

test('40 concurrent calls with ids 1 and "1" get 40 answers of their own', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
  client.send(...texts.map((text, index) => call(index % 2 === 0 ? 1 : '1', 'wait', text)));
  await vi.waitUntil(() => client.gate.waiting === 40);
  for (let left = 40; left > 0; left--) client.gate.release();
  const ofNumber = new Set<string>();
  const ofString = new Set<string>();
  for (let left = 20; left > 0; left--) {
    ofNumber.add(content(await client.answer(1))[0] ?? '');
    ofString.add(content(await client.answer('1'))[0] ?? '');
  }
  expect(ofNumber).toEqual(new Set(texts.filter((_, index) => index % 2 === 0).map((text) => `echo: ${text}`)));
  expect(ofString).toEqual(new Set(texts.filter((_, index) => index % 2 === 1).map((text) => `echo: ${text}`)));
  await client.end();
});

test(`more than ${MAX_CALLS} calls at once are answered busy, and a place is free again after an answer`, async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  for (let id = 0; id <= MAX_CALLS; id++) client.send(call(id, 'wait', 'x'));
  expect(result(await client.answer(MAX_CALLS))).toMatchObject({
    isError: true,
    _meta: { 'writ/refusal': { code: 'busy', retryable: true } },
  });
  await vi.waitUntil(() => client.gate.waiting === MAX_CALLS);
  client.gate.release();
  await client.answer(0);
  const long = 'n'.repeat(1_000_000);
  client.send(call('long', 'wait', 'x'), call('longer', long, 'x'));
  expect(content(await client.answer('longer'))[0]?.length).toBeLessThan(500);
  client.gate.release();
  await client.answer(1);
  client.send(call('again', 'echo', 'y'));
  expect(content(await client.answer('again'))).toEqual(['echo: y']);
  client.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
  await client.answer('p');
  await client.end();
});

test('a cancelled call is aborted and never answered; cancelling anything else does nothing', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  const cancel = (requestId: unknown, reason?: unknown): void =>
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } });
  client.send(call(1, 'wait', 'x'), call('1', 'wait', 'y'));
  await vi.waitUntil(() => client.gate.waiting === 2);
  for (const id of [99, null, {}, [], 1.5, undefined, 'init', 'writ-1']) cancel(id);
  cancel(1, 'changed my mind');
  await vi.waitUntil(() => client.gate.waiting === 1);
  const { reason } = client.gate.seen[0]?.signal ?? {};
  expect(reason).toBeInstanceOf(AppError);
  expect(reason).toMatchObject({ code: 'cancelled', message: 'The client cancelled the request: changed my mind' });
  cancel(1);
  client.gate.release();
  await client.answer('1');
  cancel('1');
  client.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await client.answer(2);
  expect(client.received.some((message) => message['id'] === 1)).toBe(false);
  await client.end();
});

test('the end of input cancels what runs, waits for it, and still answers', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  client.send(call(1, 'wait', 'x'));
  await vi.waitUntil(() => client.gate.waiting === 1);
  await client.end();
  expect(content(await client.answer(1))[0]).toContain('refused (cancelled)');
  expect(client.gate.waiting).toBe(0);
});

test('close does the same, twice is once, and a call that ignores its signal is waited for only so long', async () => {
  const deaf = vi.fn(() => new Promise<never>(() => {}));
  const gate = { list: () => [], call: deaf };
  const client = connect({ gate, drain_ms: 20 });
  await client.initialize('2025-11-25');
  client.send(call(1, 'deaf'));
  await vi.waitUntil(() => deaf.mock.calls.length === 1);
  await Promise.all([client.server.close(), client.server.close()]);
  expect(client.logged.join()).toContain('did not end in time');
});

test('a broken output ends everything', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  client.send(call(1, 'wait', 'x'));
  await vi.waitUntil(() => client.gate.waiting === 1);
  client.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  await client.server.closed;
  expect(client.gate.waiting).toBe(0);
});

test('roots are asked for once, after initialized, and again when they changed', async () => {
  const peers: Peer[] = [];
  const asked: (readonly string[])[] = [];
  const client = connect({
    scopeOf: async (peer) => {
      peers.push(peer);
      asked.push(await peer.roots());
      return { owner: OWNER, workspaces: [] };
    },
  });
  await client.initialize('2025-06-18', { roots: { listChanged: true } });
  client.send(call(1, 'echo', 'a'), call(2, 'echo', 'b'));
  const question = await client.take((message) => message['method'] === 'roots/list');
  const roots = [{ uri: 'file:///work/a%20b' }, { uri: 'https://x' }, { uri: 7 }, null, { uri: 'file://host/x' }];
  client.send({ jsonrpc: '2.0', id: 'stray', result: {} }, { jsonrpc: '2.0', id: question['id'], result: { roots } });
  await client.answer(1);
  await client.answer(2);
  expect(asked).toEqual([['/work/a b'], ['/work/a b']]);
  expect(peers[0]).toMatchObject({ revision: '2025-06-18', client: { name: 'test', version: '1' } });
  expect(client.logged.join()).toContain('a response to nothing');

  client.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, call(3, 'echo', 'c'));
  const again = await client.take((message) => message['method'] === 'roots/list');
  client.send({ jsonrpc: '2.0', id: again['id'], error: { code: -32603, message: 'no' } });
  await client.answer(3);
  expect(asked[2]).toEqual([]);
  client.modern(4, 'tools/call', { name: 'echo', arguments: {} });
  await client.answer(4);
  expect(client.received.filter((message) => message['method'] === 'roots/list')).toHaveLength(2);
  await client.end();
});

test('a call that waits for roots can be cancelled, and ends with the input', async () => {
  const client = connect({ scopeOf: (peer) => peer.roots().then(() => ({ owner: OWNER, workspaces: [] })) });
  await client.initialize('2025-06-18', { roots: {} });
  client.send(call(1, 'echo', 'a'), call(2, 'echo', 'b'));
  await client.take((message) => message['method'] === 'roots/list');
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await client.end();
  expect(content(await client.answer(2))[0]).toContain('refused (cancelled)');
  expect(client.gate.seen).toHaveLength(0);
});

test('roots are not asked for before the client said that it is initialized', async () => {
  const scopeOf = vi.fn((peer: Peer) => peer.roots().then(() => ({ owner: OWNER, workspaces: [] })));
  const client = connect({ scopeOf });
  client.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: { roots: {} } } });
  client.send(call(1, 'echo', 'a'));
  await client.answer(0);
  await vi.waitUntil(() => scopeOf.mock.calls.length === 1);
  client.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await client.answer(2);
  expect(client.received.some((message) => message['method'] === 'roots/list')).toBe(false);
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const { id } = await client.take((message) => message['method'] === 'roots/list');
  client.send({ jsonrpc: '2.0', id, result: 'nonsense' });
  await client.answer(1);
  await client.end();
});

test('a call whose scope never comes ends with the input', async () => {
  const scopeOf = vi.fn(() => new Promise<never>(() => {}));
  const client = connect({ scopeOf });
  client.modern(1, 'tools/call', { name: 'echo' });
  await vi.waitUntil(() => scopeOf.mock.calls.length === 1);
  await client.end();
  expect(content(await client.answer(1))[0]).toContain('refused (cancelled)');
  expect(client.logged).toEqual([]);
});

test('cancelling an id that is in use twice still finds the one that is left', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  client.send(call(1, 'wait', 'a'), call(1, 'wait', 'b'));
  await vi.waitUntil(() => client.gate.waiting === 2);
  client.gate.release();
  await client.answer(1);
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await vi.waitUntil(() => client.gate.waiting === 0);
  await client.end();
  expect(client.received.filter((message) => message['id'] === 1)).toHaveLength(1);
});

test('a scope that is refused is the refusal of the call', async () => {
  const client = connect({
    scopeOf: () => Promise.reject(new AppError('workspace_unavailable', 'No folder.', { fix: 'Add --root DIR.' })),
  });
  await client.initialize('2025-11-25');
  client.send(call(1, 'echo'));
  expect(content(await client.answer(1))[0]).toBe(
    'echo: refused (workspace_unavailable)\nWhy: No folder.\nWhat the user can do: Add --root DIR.\nWhat you should do: ' +
      'Tell the user to add the --root line shown to the MCP configuration.',
  );
  await client.end();
});

test('notices go once with the next result, also where a model sees only structured content, and never with a protocol error', async () => {
  const pending = ['job_1 ended with exit 0'];
  const client = connect({ pendingNotices: async () => pending.splice(0) });
  await client.initialize('2025-11-25');
  client.send(call(1, 'nope'));
  await client.answer(1);
  client.send(call(2, 'echo', 'a'));
  const told = await client.answer(2);
  expect(content(told)).toEqual(['echo: a', 'job_1 ended with exit 0']);
  expect(result(told)['structuredContent']).toEqual({ echo: 'a', notices: ['job_1 ended with exit 0'] });
  client.send(call(3, 'echo', 'b'));
  expect(content(await client.answer(3))).toEqual(['echo: b']);
  pending.push('job_2 ended');
  client.send(call(4, 'refuse', 'busy'));
  expect(content(await client.answer(4))[0]).toContain('\njob_2 ended');
  await client.end();
});

test('a notice taken for a call that is then cancelled goes with the next result', async () => {
  const ask = Promise.withResolvers<readonly string[]>();
  const answers: Promise<readonly string[]>[] = [ask.promise];
  const client = connect({ pendingNotices: () => answers.shift() ?? Promise.resolve([]) });
  await client.initialize('2025-11-25');
  client.send(call(1, 'echo', 'a'));
  await vi.waitUntil(() => answers.length === 0);
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, { jsonrpc: '2.0', id: 2, method: 'ping' });
  await client.answer(2);
  ask.resolve(['job_1 ended']);
  await Promise.resolve();
  client.send(call(3, 'echo', 'b'));
  expect(content(await client.answer(3))).toEqual(['echo: b', 'job_1 ended']);
  await client.end();
});

test('resources: list, template, read by page, and not found by revision', async () => {
  const id = 'exec_01k0000000000000000000';
  const read = vi.fn(async (_owner: unknown, asked: string, cursor: number) =>
    asked !== id ? undefined : cursor === 0 ? { text: 'first', next_cursor: 5 } : { text: 'last' },
  );
  const resources = { list: async () => [{ id, name: 'make test', bytes: 9 }], read };
  const client = connect({ resources });
  expect(result(await client.initialize('2025-06-18'))['capabilities']).toEqual({ tools: {}, resources: {} });
  client.send({ jsonrpc: '2.0', id: 1, method: 'resources/list' }, { jsonrpc: '2.0', id: 2, method: 'resources/templates/list' });
  expect(result(await client.answer(1))['resources']).toEqual([
    { uri: `writ://output/${id}`, name: 'make test', mimeType: 'text/plain', size: 9 },
  ]);
  await client.answer(2);
  client.send({ jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: `writ://output/${id}` } });
  const [first, more] = result(await client.answer(3))['contents'] as Message[];
  expect(first).toMatchObject({ text: 'first' });
  expect(more).toMatchObject({ uri: `writ://output/${id}?cursor=5` });
  client.modern(4, 'resources/read', { uri: more?.['uri'] });
  expect(result(await client.answer(4))).toMatchObject({ contents: [{ text: 'last' }], ttlMs: 0, cacheScope: 'private' });

  const reads = read.mock.calls.length;
  const bad = [
    'file:///etc/passwd',
    'writ://output/../x',
    `writ://output/${id}/`,
    `writ://output/${id}?cursor=-1`,
    `WRIT://output/${id}`,
    'writ://output/run_01k0000000000000000000',
  ];
  for (const uri of [...bad, 'writ://output/job_01k0000000000000000000']) {
    client.send({ jsonrpc: '2.0', id: uri, method: 'resources/read', params: { uri } });
    expect(error(await client.answer(uri))).toMatchObject({ code: -32002, data: { uri } });
    client.modern(`m${uri}`, 'resources/read', { uri });
    expect(error(await client.answer(`m${uri}`)).code).toBe(-32602);
  }
  expect(read.mock.calls.length - reads).toBe(2);
  client.send({ jsonrpc: '2.0', id: 5, method: 'resources/read', params: { uri: 7 } });
  expect(error(await client.answer(5)).code).toBe(-32602);
  await client.end();
});

test('a cancelled read is aborted and never answered', async () => {
  const read = vi.fn(
    (_owner: unknown, _id: string, _cursor: number, signal: AbortSignal) =>
      new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
  );
  const client = connect({ resources: { list: async () => [], read } });
  client.modern(1, 'resources/read', { uri: 'writ://output/exec_01k0000000000000000000' });
  await vi.waitUntil(() => read.mock.calls.length === 1);
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await client.end();
  expect(client.received).toEqual([]);
});

test('lists take an empty cursor, refuse a made-up one, and go on after 200', async () => {
  const list = async (): Promise<{ id: string; name: string }[]> =>
    Array.from({ length: 450 }, (_, index) => ({ id: `exec_${index}`, name: `${index}` }));
  const client = connect({ resources: { list, read: async () => undefined } });
  await client.initialize('2025-11-25');
  const seen: unknown[] = [];
  let cursor: unknown = '';
  for (let id = 0; cursor !== undefined; id++) {
    client.send({ jsonrpc: '2.0', id, method: 'resources/list', params: { cursor } });
    const page = result(await client.answer(id));
    seen.push(...(page['resources'] as Message[]).map(({ name }) => name));
    cursor = page['nextCursor'];
  }
  expect(seen).toEqual((await list()).map(({ name }) => name));
  for (const wrong of ['abc', '-1', '99999', 7, {}]) {
    client.send({ jsonrpc: '2.0', id: 'w', method: 'tools/list', params: { cursor: wrong } });
    expect(error(await client.answer('w'))).toMatchObject({ code: -32602, message: 'Invalid cursor' });
  }
  await client.end();
});
