import { expect, test, vi } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { type Behaviour, type FakeServer, fakeServer } from '../testing.ts';
import { createExchange, type Exchange, METHOD_UNKNOWN, type Served } from './exchange.ts';
import { createStdioCarrier } from './stdio-carrier.ts';

const DEAF: Served = { request: async () => METHOD_UNKNOWN, notification() {} };
const SOON = { timeout_ms: 30_000 };

async function exchangeWith(
  behave: Behaviour,
  served = DEAF,
  max_bytes = 1024 * 1024,
): Promise<{ server: FakeServer; exchange: Exchange }> {
  const server = fakeServer(behave);
  return { server, exchange: await createExchange(createStdioCarrier(server, max_bytes), served, silentLogger) };
}

const echo: Behaviour = ({ id, params }, server) => server.say({ jsonrpc: '2.0', id, result: { params } });

test('forty calls at once, answered in the wrong order, get forty right answers', async () => {
  const waiting: (() => void)[] = [];
  const { exchange } = await exchangeWith((message, server) => {
    waiting.push(() => echo(message, server));
    if (waiting.length === 40) for (const answer of waiting.reverse()) answer();
  });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => exchange.request('tools/call', { index }, SOON)));
  expect(answers.map((answer) => answer.ok && answer.result['params'])).toEqual(Array.from({ length: 40 }, (_, index) => ({ index })));
});

test('a call that takes too long is given up: the upstream is told, its late answer dropped and counted, the connection kept', async () => {
  let late: (() => void) | undefined;
  const { server, exchange } = await exchangeWith((message, self) => {
    if (message['method'] === 'slow') late = () => echo(message, self);
    else if ('id' in message) echo(message, self);
  });
  await expect(exchange.request('slow', {}, { timeout_ms: 5 })).rejects.toMatchObject({ code: 'upstream_timeout' });
  await vi.waitFor(() => expect(server.heard.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } }));
  late?.();
  expect(await exchange.request('quick', {}, SOON)).toMatchObject({ ok: true });
  expect(exchange.counts).toMatchObject({ late: 1, unknown: 0 });
});

test('answers that fit nothing change nothing: doubled, for nobody, without an id, with an id of another type', async () => {
  const { exchange } = await exchangeWith((message, server) => {
    for (const id of [null, '1', 77, 1.5, {}]) server.say({ jsonrpc: '2.0', id, result: { wrong: true } });
    echo(message, server);
    echo(message, server);
  });
  expect(await exchange.request('x', { right: true }, SOON)).toMatchObject({ ok: true, result: { params: { right: true } } });
  await vi.waitFor(() => expect(exchange.counts).toMatchObject({ late: 1, unknown: 5 }));
});

test('a banner, half a character and an empty line are skipped and counted', async () => {
  const { exchange } = await exchangeWith(({ id }, server) => {
    server.write('Server ready on stdio!\n\n');
    server.write(Buffer.from([0xff, 0xfe, 0x0a]));
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: { text: '😀ü' } })}\n`);
    for (const byte of bytes) server.write(Uint8Array.of(byte));
  });
  expect(await exchange.request('x', {}, SOON)).toMatchObject({ result: { text: '😀ü' } });
  expect(exchange.counts.noise).toBe(2);
});

test('a message over the limit ends the connection, and whoever waits hears which limit', async () => {
  const { exchange } = await exchangeWith((_, server) => server.write(`"${'a'.repeat(2_000)}`), DEAF, 1_000);
  await expect(exchange.request('x', {}, SOON)).rejects.toMatchObject({
    code: 'outcome_unknown',
    message: expect.stringContaining('1000 bytes'),
  });
  expect(await exchange.closed).toContain('max_response_bytes');
  await expect(exchange.request('y', {}, SOON)).rejects.toMatchObject({ code: 'upstream_unavailable' });
});

test('one that exits in the middle of a call leaves its outcome unknown; what it said before counts', async () => {
  const { exchange } = await exchangeWith((message, server) => {
    if (message['method'] === 'last') echo(message, server);
    else server.exit('it exited with 3');
  });
  const lost = exchange.request('gone', {}, SOON);
  await expect(lost).rejects.toMatchObject({ code: 'outcome_unknown', message: expect.stringContaining('exited with 3') });
});

test('a cancelled call is said to the upstream once, and one that was cancelled before is never sent', async () => {
  const { server, exchange } = await exchangeWith(() => {});
  const controller = new AbortController();
  const call = exchange.request('x', {}, { ...SOON, signal: controller.signal });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: 'cancelled' });
  await expect(exchange.request('y', {}, { ...SOON, signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
  await vi.waitFor(() => expect(server.heard.map(({ method }) => method)).toEqual(['x', 'notifications/cancelled']));
});

test('progress reaches the call that it belongs to, and does not lengthen it', async () => {
  const { exchange } = await exchangeWith((message, server) => {
    const { _meta } = message['params'] as { _meta: { progressToken: unknown } };
    server.say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress: 1 } });
    server.say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'nobody', progress: 9 } });
    echo(message, server);
  });
  const seen: unknown[] = [];
  await exchange.request('x', {}, { ...SOON, onProgress: ({ progress }) => seen.push(progress) });
  expect(seen).toEqual([1]);
});

test('what the upstream asks is answered under its own id, with whose calls are under way; a ping by itself', async () => {
  const asked: unknown[] = [];
  const served: Served = {
    async request(method, params, scopes) {
      asked.push([method, params, scopes]);
      return { ok: true, result: { action: 'accept' } };
    },
    notification() {},
  };
  const { server, exchange } = await exchangeWith((message, self) => {
    if (message['method'] === 'tools/call') {
      self.say({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Sure?' } });
      self.say({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    } else if (message['id'] === 'q') self.say({ jsonrpc: '2.0', id: 1, result: { answered: message['result'] } });
  }, served);
  const scope = { relay: 'ours' };
  expect(await exchange.request('tools/call', {}, { ...SOON, scope })).toMatchObject({ result: { answered: { action: 'accept' } } });
  expect(asked).toEqual([['elicitation/create', { message: 'Sure?' }, [scope]]]);
  expect(server.heard).toContainEqual({ jsonrpc: '2.0', id: 'p', result: {} });
});

test('the deadline of a call stops while somebody is asked in its course, and that of one that nobody asks about does not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const person = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let call: Members | undefined;
    const { exchange } = await exchangeWith(
      (message, self) => {
        if (message['method'] === 'tools/call') {
          call = message;
          self.say({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: {} });
        } else if (message['id'] === 'q' && call !== undefined) echo(call, self);
      },
      {
        ...DEAF,
        async request() {
          asked.resolve();
          await person.promise;
          return { ok: true, result: {} };
        },
      },
    );
    const answered = exchange.request('tools/call', {}, { timeout_ms: 1_000, scope: {} });
    const other = exchange.request('other', {}, { timeout_ms: 1_000 });
    other.catch(() => {});
    await asked.promise;
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    await expect(other).rejects.toMatchObject({ code: 'upstream_timeout' });
    person.resolve();
    expect(await answered).toMatchObject({ ok: true });
  } finally {
    vi.useRealTimers();
  }
});

type Members = Readonly<Record<string, unknown>>;
