import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Booth, bytesOf, makeBooth, sees, textOf } from './testing.ts';

let booth: Booth;
beforeAll(() => {
  booth = makeBooth();
});
afterAll(() => booth.close());

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it('carries ten megabytes there and back, in pieces of any size', async () => {
  const channel = await booth.connect('exec cat');
  const sent = randomBytes(10 * 1024 * 1024);
  const received = bytesOf(channel.stdout);
  for (let at = 0, piece = 1; at < sent.length; at += piece, piece = (piece * 7 + 1) % 300_007) {
    if (!channel.stdin.write(sent.subarray(at, at + piece))) await new Promise((drained) => channel.stdin.once('drain', drained));
  }
  channel.stdin.end();
  const got = await received;
  expect(got.length).toBe(sent.length);
  expect(sha(got)).toBe(sha(sent));
  expect(await channel.ended).toMatchObject({ cause: 'exited', exit_code: 0, teardown: { verified: true, survivors: [] } });
});

it('keeps stderr apart, also where a script opens it by its name', async () => {
  const { out, err } = await booth.hear('echo one; echo two > /dev/stderr; echo three > /dev/stdout; printf four >&2');
  expect({ out, err }).toEqual({ out: 'one\nthree\n', err: 'two\nfour' });
});

it('holds a writer back that nobody reads, and loses nothing of it', async () => {
  const channel = await booth.connect('', {
    argv: [
      'python3',
      '-c',
      [
        'import os, sys',
        'os.set_blocking(1, False)',
        'total, piece = 4 << 20, b"x" * 4096',
        'sent = 0',
        'import time',
        'idle = 0',
        'while idle < 20 and sent < total:',
        '  try:',
        '    sent += os.write(1, piece); idle = 0',
        '  except BlockingIOError:',
        '    idle += 1; time.sleep(0.01)',
        'print("held at", sent, file=sys.stderr, flush=True)',
        'os.set_blocking(1, True)',
        'while sent < total: sent += os.write(1, piece[:total - sent])',
      ].join('\n'),
    ],
  });
  const [, held] = /held at (\d+)/.exec(await firstLine(channel.stderr)) ?? [];
  expect(Number(held)).toBeLessThan(512 * 1024);
  expect((await bytesOf(channel.stdout)).length).toBe(4 << 20);
});

it('holds us back where the program does not read', async () => {
  const channel = await booth.connect('echo here; sleep 1000 & wait');
  await sees(channel.stdout, 'here');
  expect(channel.stdin.write(Buffer.alloc(4 << 20))).toBe(false);
  // What it can hold by itself is a pipe full.
  expect(channel.stdin.writableLength).toBeGreaterThan(3 << 20);
  expect(await channel.close(20)).toMatchObject({ cause: 'closed', teardown: { verified: true } });
});

it('tells the exit code and the signal, and can be read to its end afterwards', async () => {
  const channel = await booth.connect('head -c 50000 /dev/zero; echo last words >&2; exit 7');
  expect(await channel.ended).toMatchObject({ cause: 'exited', exit_code: 7, limits_hit: [] });
  expect((await bytesOf(channel.stdout)).length).toBe(50_000);
  expect(await textOf(channel.stderr)).toBe('last words\n');
  const killed = await booth.connect('kill -SEGV $$');
  expect(await killed.ended).toMatchObject({ exit_code: 139, signal: 'SIGSEGV' });
});

it('a write that comes too late fails by its callback', async () => {
  const channel = await booth.connect('exit 0');
  await channel.ended;
  const failed = await new Promise<unknown>((done) => channel.stdin.write('late', done));
  expect(failed).toBeInstanceOf(Error);
});

async function firstLine(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const bytes of stream) {
    text += bytes.toString('utf8');
    if (text.includes('\n')) return text;
  }
  return text;
}
