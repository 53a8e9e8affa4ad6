import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { REVISIONS } from '../../src/mcp/index.ts';
import { connect, MODERN_META, type TestClient } from './client.ts';
import type { Message } from './schema.ts';

const code = (message: Message): unknown => (message['error'] as Message | undefined)?.['code'];

async function stillServes(client: TestClient): Promise<void> {
  client.send({ jsonrpc: '2.0', id: 'alive', method: 'ping' });
  await client.answer('alive');
}

test('a line of 10 MiB is answered once and skipped, the next one works', async () => {
  const client = connect();
  client.raw(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"`);
  for (let mib = 0; mib < 10; mib++) client.raw(Buffer.alloc(1024 * 1024, 0x78));
  client.raw('"}}}\n');
  expect(await client.take(() => true)).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: 'The message is longer than 8 MiB' } });
  await stillServes(client);
  expect(client.received).toHaveLength(2);
  expect(client.gate.seen).toHaveLength(0);
  await client.end();
});

test('a big argument under the bound arrives whole', async () => {
  const client = connect();
  const text = 'é'.repeat(3 * 1024 * 1024);
  client.modern(1, 'tools/call', { name: 'echo', arguments: { text } });
  await client.answer(1);
  expect(client.gate.seen[0]?.arguments).toEqual({ text });
  await client.end();
});

test.each([
  ['not JSON', '{"jsonrpc":"2.0","id":1,', -32700],
  ['NUL', '{"jsonrpc":"2.0","id":1,"method":"ping"}\u0000', -32700],
  ['bad UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), -32700],
  ['deep nesting', '['.repeat(100_000), -32600],
  ['a lone value', '42', -32600],
])('%s', async (_name, line, expected) => {
  const client = connect();
  client.raw(line);
  client.raw('\n');
  const answer = await client.take(() => true);
  expect(code(answer)).toBe(expected);
  expect('id' in answer).toBe(false);
  await stillServes(client);
  await client.end();
});

test('half a frame at the end of the input is an error and runs nothing, a whole one without a line feed is served', async () => {
  const half = connect();
  half.raw('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"');
  await half.end();
  expect(half.received.map(code)).toEqual([-32700]);
  expect(half.gate.seen).toHaveLength(0);
  const whole = connect();
  whole.send();
  whole.raw('{"jsonrpc":"2.0","id":1,"method":"nothing"}');
  await whole.end();
  expect(whole.received.map(code)).toEqual([-32601]);
});

test('lone surrogates, NUL and odd keys in arguments and ids reach the gate and come back as they are', async () => {
  const client = connect();
  const text = '\ud800 \u0000 \u2028';
  for (const id of ['\udfff', '', '__proto__', 0, -1, Number.MAX_SAFE_INTEGER]) {
    client.raw(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":{"name":"echo",`);
    client.raw(`"arguments":{"__proto__":{"x":1},"text":${JSON.stringify(text)}},"_meta":${JSON.stringify(MODERN_META)}}}\n`);
    const reply = await client.take((message) => message['id'] === id).catch((error: Error) => error);
    // The harness hasn't seen a request with this id, which is all that it may complain of.
    if (reply instanceof Error) expect(reply.message).toContain('an answer to nothing');
  }
  expect(client.gate.seen).toHaveLength(6);
  for (const { arguments: args } of client.gate.seen) {
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect((args as Message)['text']).toBe(text);
  }
});

test('members of every wrong type are answered with an error or ignored, and nothing breaks', async () => {
  const wrong = [null, true, 7, 1.5, 'x', '', [], [[]], {}, { a: { b: [] } }];
  for (const revision of Object.keys(REVISIONS)) {
    const client = connect({ resources: { list: async () => [], read: async () => undefined } });
    const modern = revision === '2026-07-28';
    if (!modern) await client.initialize(revision);
    let id = 0;
    const methods = ['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'resources/list', 'resources/read'];
    const expected: number[] = [];
    for (const method of methods) {
      for (const member of [
        'name',
        'arguments',
        'cursor',
        'uri',
        '_meta',
        'protocolVersion',
        'notifications',
        'capabilities',
        'clientInfo',
      ]) {
        for (const value of wrong) {
          expected.push(++id);
          const base = { name: 'echo', uri: 'x', protocolVersion: revision, ...(modern && { _meta: MODERN_META }) };
          client.send({ jsonrpc: '2.0', id, method, params: { ...base, [member]: value } });
        }
      }
    }
    for (const method of [
      'notifications/cancelled',
      'notifications/initialized',
      'notifications/roots/list_changed',
      'notifications/progress',
    ]) {
      for (const value of wrong)
        client.send({ jsonrpc: '2.0', method, params: value }, { jsonrpc: '2.0', method, params: { requestId: value, reason: value } });
    }
    for (const each of expected) await client.answer(each);
    await client.end();
  }
});

test('_meta of any shape is taken for a handshake request or refused', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  const version = 'io.modelcontextprotocol/protocolVersion';
  for (const value of [null, 7, {}, [], '', '2026-07-28']) {
    client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { [version]: value } } });
    expect(code(await client.answer(1))).toBe(value === '' ? -32022 : -32602);
  }
  await client.end();
});

test('answers that cannot be sent become an error of that request', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'broken' } });
  expect(code(await client.answer(1))).toBe(-32603);
  client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'huge', arguments: { text: `${5 * 1024 * 1024}` } } });
  expect(code(await client.answer(2))).toBe(-32603);
  await stillServes(client);
  await client.end();
});

test('a gate whose list throws is an error, not a crash', async () => {
  const list = (): never => {
    throw new Error('no catalogue');
  };
  const client = connect({ gate: { list, call: () => Promise.reject(new Error('unused')) } });
  client.modern(1, 'tools/list');
  expect(code(await client.answer(1))).toBe(-32603);
  await client.end();
});

test('a client that does not read is sent no more requests worth of answers than the bound, and served again when it reads', async () => {
  const client = connect();
  await client.initialize('2025-11-25');
  client.output.pause();
  for (let id = 0; id < 30; id++) {
    client.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'huge', arguments: { text: `${512 * 1024}` } } });
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Each answer is about a megabyte: after four of them nothing more is read, although the requests are there.
  await vi.waitUntil(() => client.input.isPaused());
  expect(client.gate.seen.length).toBeLessThan(10);
  client.output.resume();
  for (let id = 0; id < 30; id++) await client.answer(id);
  expect(client.gate.seen).toHaveLength(30);
  await client.end();
});

test('mutated sessions: never a crash, every line of output valid, still alive at the end', async () => {
  const seeds = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { cursor: '' } },
    { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' }, _meta: { progressToken: 1 } } },
    { jsonrpc: '2.0', id: 4, method: 'server/discover', params: { _meta: MODERN_META } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } },
    { jsonrpc: '2.0', id: 'writ-1', result: { roots: [] } },
    [{ jsonrpc: '2.0', id: 5, method: 'ping' }],
  ].map((seed) => Buffer.from(`${JSON.stringify(seed)}\n`));
  const edit = fc.record({ seed: fc.nat(seeds.length - 1), at: fc.nat(300), put: fc.uint8Array({ maxLength: 4 }), cut: fc.nat(4) });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 20 }), async (edits) => {
      const { server, input, output, gate } = connect();
      let out = '';
      output.on('data', (chunk: Buffer) => {
        out += chunk.toString('utf8');
      });
      for (const { seed, at, put, cut } of edits) {
        const line = seeds[seed] ?? Buffer.alloc(0);
        input.write(Buffer.concat([line.subarray(0, at), put, line.subarray(at + cut), Buffer.from('\n')]));
      }
      input.end();
      await server.closed;
      for (const line of out.split('\n').filter((each) => each !== '')) expect([JSON.parse(line)].flat()[0].jsonrpc).toBe('2.0');
      expect(gate.waiting).toBe(0);
    }),
    { numRuns: 100 },
  );
});
