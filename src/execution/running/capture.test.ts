import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpoolPage } from '../types.ts';
import { type Capture, createCapture, HEADROOM, type StreamName } from './capture.ts';
import { LOG_FILE } from './spool-format.ts';
import { readSpool } from './spool-reader.ts';
import { createSpoolWriter, type SpoolWriter } from './spool-writer.ts';
import { HEAD_BYTES, TAIL_BYTES } from './window.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-capture-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Piece {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

const READ = 64 * 1024;

function feed(capture: Capture, stream: StreamName, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += READ) {
    const part = bytes.subarray(at, at + READ);
    // What was in the buffer before must not matter.
    const buffer = Buffer.alloc(HEADROOM + READ, 0xe2);
    buffer.set(part, HEADROOM);
    capture.chunk(stream, buffer, part.length);
  }
}

function captured(pieces: readonly Piece[], quota = 1 << 30): { capture: Capture; spool: SpoolWriter } {
  const spool = createSpoolWriter(folder, quota);
  const capture = createCapture(spool);
  for (const { stream, bytes } of pieces) feed(capture, stream, bytes);
  capture.end();
  return { capture, spool };
}

async function readAll(max_bytes: number): Promise<{ pages: SpoolPage[]; text: Record<StreamName, string> }> {
  const pages: SpoolPage[] = [];
  const text = { stdout: '', stderr: '' };
  for (let cursor = 0; ; ) {
    const page = await readSpool(folder, { cursor, max_bytes });
    pages.push(page);
    for (const chunk of page.chunks) text[chunk.stream] += chunk.text;
    if (page.end) return { pages, text };
    if (page.next_cursor === cursor) throw new Error(`no progress at ${cursor}`);
    cursor = page.next_cursor;
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** Letters of one to four bytes, and bytes that are no letters. */
const output = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }).map((value) => Buffer.from(value)),
  fc.string({ unit: 'binary', maxLength: 60 }).map((value) => Buffer.from(value)),
  fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value)),
);

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...parts, bytes.subarray(at)];
}

describe('capture', () => {
  it('shows the same for any cutting into chunks', () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(9), { maxLength: 40 }), (bytes, sizes) => {
        rmSync(folder, { recursive: true });
        folder = mkdtempSync(join(tmpdir(), 'writ-capture-'));
        const { capture } = captured(cut(bytes, sizes).map((part) => ({ stream: 'stdout', bytes: part })));
        const { stdout, stderr, combined } = capture.view();
        expect(stdout).toEqual({ head: text(bytes), tail: '', omitted_bytes: 0, total_bytes: bytes.length, sha256: sha256(bytes) });
        expect(combined).toEqual(stdout);
        expect(stderr).toMatchObject({ total_bytes: 0, sha256: sha256(Buffer.alloc(0)) });
        if (bytes.length > 0) expect(readFileSync(join(folder, LOG_FILE))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('never puts one stream into a character of the other', async () => {
    // A replacement character that was written would say nothing: it is the sign of a broken one.
    const whole = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => !text.includes('\uFFFD'));
    await fc.assert(
      fc.asyncProperty(
        whole,
        whole,
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3 })), { maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (a, b, turns, max_bytes) => {
          rmSync(folder, { recursive: true });
          folder = mkdtempSync(join(tmpdir(), 'writ-capture-'));
          const rest = { stdout: Buffer.from(a), stderr: Buffer.from(b) };
          const pieces: Piece[] = [];
          const turn = (stream: StreamName, size: number): void => {
            pieces.push({ stream, bytes: rest[stream].subarray(0, size) });
            rest[stream] = rest[stream].subarray(size);
          };
          for (const [first, size] of turns) turn(first ? 'stdout' : 'stderr', size);
          turn('stdout', rest.stdout.length);
          turn('stderr', rest.stderr.length);
          const { capture } = captured(pieces);
          const { combined, stdout, stderr } = capture.view();
          expect(combined.head).not.toContain('\uFFFD');
          expect(combined.total_bytes).toBe(stdout.total_bytes + stderr.total_bytes);
          expect(combined.sha256).toBe(sha256(readFileSync(join(folder, LOG_FILE))));
          // Every page, whatever its size, is whole characters, and all pages together are everything.
          expect((await readAll(max_bytes)).text).toEqual({ stdout: a, stderr: b });
        },
      ),
      { numRuns: 150 },
    );
  });

  it('keeps both ends of what is too long, cut between characters, and counts the middle', () => {
    const bytes = Buffer.from('€'.repeat(100_000));
    const { stdout } = captured([{ stream: 'stdout', bytes }]).capture.view();
    expect(stdout.head).toBe('€'.repeat(Math.floor(HEAD_BYTES / 3)));
    expect(stdout.tail).toBe('€'.repeat(Math.floor(TAIL_BYTES / 3)));
    expect(stdout.omitted_bytes).toBe(bytes.length - Buffer.byteLength(stdout.head) - Buffer.byteLength(stdout.tail));
  });

  it.each([0, 1, 2])('shows everything up to the exact size of both ends (%s less)', (less) => {
    const bytes = Buffer.alloc(HEAD_BYTES + TAIL_BYTES - less, 'x');
    const { stdout } = captured([{ stream: 'stdout', bytes }]).capture.view();
    expect(stdout.head.length).toBe(bytes.length);
    expect(stdout.omitted_bytes).toBe(0);
  });

  it('keeps the true tail for any chunk size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 130_000, max: 400_000 }), (chunk, length) => {
        rmSync(folder, { recursive: true });
        folder = mkdtempSync(join(tmpdir(), 'writ-capture-'));
        const bytes = Buffer.from(Array.from({ length }, (_, at) => 33 + ((at * 7) % 90)));
        const pieces: Piece[] = [];
        for (let at = 0; at < length; at += chunk) pieces.push({ stream: 'stderr', bytes: bytes.subarray(at, at + chunk) });
        const { stderr } = captured(pieces.length > 5_000 ? [{ stream: 'stderr', bytes }] : pieces).capture.view();
        if (length <= HEAD_BYTES + TAIL_BYTES) expect(stderr.head).toBe(bytes.toString());
        else {
          expect(stderr.head).toBe(bytes.subarray(0, HEAD_BYTES).toString());
          expect(stderr.tail).toBe(bytes.subarray(length - TAIL_BYTES).toString());
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('spool', () => {
  it('can be read while it grows, and says when nothing more will come', async () => {
    const capture = createCapture(createSpoolWriter(folder, 1 << 20));
    expect(await readSpool(folder, { cursor: 0, max_bytes: 100 })).toMatchObject({ next_cursor: 0, chunks: [], end: false });
    feed(capture, 'stdout', Buffer.from('one '));
    feed(capture, 'stdout', Buffer.from('two '));
    const first = await readSpool(folder, { cursor: 0, max_bytes: 100 });
    expect(first).toEqual({ cursor: 0, next_cursor: 8, chunks: [{ stream: 'stdout', text: 'one two ' }], end: false, dropped_bytes: 0 });
    // Half a character is nobody's yet.
    feed(capture, 'stdout', Buffer.from([0xe2, 0x82]));
    expect((await readSpool(folder, { cursor: 8, max_bytes: 100 })).chunks).toEqual([]);
    feed(capture, 'stderr', Buffer.from('!'));
    feed(capture, 'stdout', Buffer.from([0xac]));
    capture.end();
    expect(await readSpool(folder, { cursor: 8, max_bytes: 100 })).toEqual({
      cursor: 8,
      next_cursor: 12,
      chunks: [
        { stream: 'stderr', text: '!' },
        { stream: 'stdout', text: '€' },
      ],
      end: true,
      dropped_bytes: 0,
    });
  });

  it.each([
    [1, 0],
    [2, 0],
    [3, 3],
    [7, 7],
  ])('a cursor at %s starts at the character that begins at %s', async (cursor, starts) => {
    captured([{ stream: 'stdout', bytes: Buffer.from('€😀x') }]);
    expect((await readSpool(folder, { cursor, max_bytes: 4 })).cursor).toBe(starts);
  });

  it('a page is never too small for a character, and odd cursors are harmless', async () => {
    captured([{ stream: 'stdout', bytes: Buffer.from('😀😀') }]);
    expect((await readSpool(folder, { cursor: 0, max_bytes: 1 })).chunks).toEqual([{ stream: 'stdout', text: '😀' }]);
    for (const cursor of [-5, Number.NaN, 0.5]) expect((await readSpool(folder, { cursor, max_bytes: 100 })).cursor).toBe(0);
    for (const cursor of [9, 1e12]) {
      expect(await readSpool(folder, { cursor, max_bytes: 100 })).toMatchObject({ cursor: 8, next_cursor: 8, chunks: [], end: true });
    }
  });

  it('stops at its quota for good, between characters, and counts what it dropped', async () => {
    const { spool, capture } = captured(
      [
        { stream: 'stdout', bytes: Buffer.from('€€€') },
        { stream: 'stderr', bytes: Buffer.from('later') },
      ],
      8,
    );
    expect(spool.stopped).toContain('limit of 8 bytes');
    expect(spool).toMatchObject({ spooled: 6, dropped: 8 });
    expect(capture.view()).toMatchObject({ spooled_bytes: 6, combined: { total_bytes: 14 } });
    expect(await readSpool(folder, { cursor: 0, max_bytes: 100 })).toEqual({
      cursor: 0,
      next_cursor: 6,
      chunks: [{ stream: 'stdout', text: '€€' }],
      end: true,
      dropped_bytes: 8,
    });
  });

  it('goes on counting when the disk refuses', () => {
    rmSync(folder, { recursive: true });
    const { capture, spool } = captured([{ stream: 'stdout', bytes: Buffer.from('lost') }]);
    expect(spool.stopped).toContain('could not be written');
    expect(capture.view()).toMatchObject({ spooled_bytes: 0, stdout: { head: 'lost', total_bytes: 4 } });
    folder = mkdtempSync(join(tmpdir(), 'writ-capture-'));
  });
});
