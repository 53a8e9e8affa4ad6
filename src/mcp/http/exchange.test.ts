import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { createExchange, type Exchange } from './exchange.ts';

/** The answering side with a real socket and a clock of our own. */

const MIB = 'x'.repeat(1024 * 1024);
/** A busy machine may take its time. */
const eventually = <T>(fact: () => T) => expect.poll(fact, { timeout: 20_000 });
let now = 0;
const clock = { now: () => now, monotonic: () => now };
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Scene {
  readonly exchange: Exchange;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly hold: { readonly max: number; bytes: number };
  text: string;
}

async function scene({ reads = true, max = 1024 * 1024 * 1024 } = {}): Promise<Scene> {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => asked.resolve(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n');
  const response = await asked.promise;
  const hold = { max, bytes: 0 };
  const exchange = createExchange({ response, hold, logger: silentLogger, clock, stalled_ms: 50, started() {} });
  response.on('close', exchange.closed);
  ends.push(() => {
    socket.destroy();
    server.close();
  });
  const made: Scene = { exchange, response, socket, hold, text: '' };
  if (reads) {
    socket.setEncoding('utf8').on('data', (chunk) => {
      made.text += chunk;
    });
  }
  return made;
}

test('an answer alone is JSON; something before it makes a stream of both', async () => {
  const alone = await scene();
  alone.exchange.answer({ id: 1 }, 200, ['mcp-session-id', 'x']);
  await eventually(() => alone.text).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: application\/json\r\n.*\r\n\r\n\{"id":1\}$/s);
  const both = await scene();
  expect(both.exchange.send({ method: 'm' })).toBe(true);
  both.exchange.answer({ id: 1 }, 404);
  await expect
    .poll(() => both.text)
    .toMatch(/^HTTP\/1\.1 200 .*event: message\ndata: \{"method":"m"\}\n\n.*data: \{"id":1\}\n\n.*0\r\n\r\n$/s);
  // It is over: nothing more goes out, and whoever asks is told.
  expect(both.exchange.send({ method: 'late' })).toBe(false);
  await eventually(() => [alone.hold.bytes, both.hold.bytes]).toEqual([0, 0]);
});

test('a response that stays silent says so before 15 s are over, and keeps on saying it', async () => {
  const made = await scene();
  const beats = (): number => made.text.split(':\n\n').length - 1;
  for (const expected of [0, 1, 1, 2, 2, 3]) {
    now += 5_000;
    made.exchange.tick();
    await eventually(beats).toBe(expected);
  }
  made.exchange.answer({ id: 1 }, 200);
  await eventually(() => made.text).toContain('data: {"id":1}');
});

/** More than the kernel takes for a client that doesn't read. */
const FULL = 24;

test('a client that takes nothing is cut off, and what was held for it is given back', async () => {
  const { exchange, response, hold } = await scene({ reads: false });
  for (let i = 0; i < FULL; i++) exchange.send({ text: MIB });
  expect(hold.bytes).toBeGreaterThan(0);
  exchange.tick();
  await eventually(() => response.destroyed).toBe(true);
  expect(hold.bytes).toBe(0);
});

test('progress is dropped while a client is behind; what must arrive cuts it off once too much is held', async () => {
  const { exchange, response } = await scene({ reads: false, max: 4 * 1024 * 1024 });
  exchange.send({ text: MIB });
  const before = response.writableLength;
  expect(before).toBeGreaterThan(0);
  exchange.offer({ text: MIB });
  expect(response.writableLength).toBe(before);
  let sent = 1;
  while (exchange.send({ text: MIB })) sent++;
  expect(sent).toBeLessThan(5);
  expect(response.destroyed).toBe(true);
});
