import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import { createWriter } from './writer.ts';

/** A client that reads only when told to. */
function slowReader(limits = { message_bytes: 100, stall_bytes: 100, relief_bytes: 50, limit_bytes: 1000 }) {
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  const events: unknown[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      waiting.push(() => {
        lines.push(line);
        done();
      });
    },
  });
  const writer = createWriter({
    output,
    logger: silentLogger,
    limits,
    onPressure: (high) => void events.push(high),
    onDead: (reason) => void events.push(reason),
  });
  async function read(): Promise<void> {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { writer, output, lines, events, read };
}

test('unread output raises pressure once, and reading takes it back', async () => {
  const { writer, lines, events, read } = slowReader();
  for (let n = 0; n < 4; n++) writer.send('x'.repeat(40));
  expect(events).toEqual([true]);
  for (let n = 0; n < 4; n++) await read();
  expect(events).toEqual([true, false]);
  expect(lines).toHaveLength(4);
  await writer.flush(1000);
});

test('a client that never reads is given up at the limit', () => {
  const { writer, events, output } = slowReader();
  for (let n = 0; n < 40; n++) writer.send('x'.repeat(40));
  expect(events).toEqual([true, 'the client does not read its answers']);
  expect(output.destroyed).toBe(true);
  expect(writer.send('more')).toBe(true);
});

test('progress is dropped while the client is behind, answers are not', async () => {
  const { writer, lines, read } = slowReader({ message_bytes: 1e6, stall_bytes: 1e6, relief_bytes: 1e5, limit_bytes: 1e7 });
  writer.offer('kept');
  writer.send('x'.repeat(70_000));
  writer.offer('dropped');
  writer.send('answer');
  for (let n = 0; n < 3; n++) await read();
  expect(lines.map((line) => line.slice(0, 8))).toEqual(['"kept"\n', '"xxxxxxx', '"answer"']);
});

test('what cannot be written as a line is refused and costs nothing', () => {
  const { writer, events } = slowReader();
  const loop: Record<string, unknown> = {};
  loop['loop'] = loop;
  expect(writer.send(loop)).toBe(false);
  expect(writer.send('x'.repeat(99))).toBe(false);
  expect(events).toEqual([]);
});

test('flush ends when the output dies, and when the time is over', async () => {
  const { writer, output, events } = slowReader();
  writer.send('x');
  await writer.flush(1);
  const flushed = writer.flush(60_000);
  output.destroy(new Error('write EPIPE'));
  await flushed;
  expect(events).toEqual(['write EPIPE']);
});

test('lone surrogates and control characters leave as one line of valid UTF-8', async () => {
  const output = new PassThrough();
  const writer = createWriter({ output, logger: silentLogger, onPressure() {}, onDead() {} });
  writer.send({ text: '\ud800\u0000\n\u2028' });
  await writer.flush(1000);
  expect(output.read().toString()).toBe('{"text":"\\ud800\\u0000\\n\u2028"}\n');
});
