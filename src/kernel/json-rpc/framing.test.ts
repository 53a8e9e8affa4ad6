import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineDecoder, type Frame } from './framing.ts';

function decode(chunks: readonly Uint8Array[], maxBytes = 1000): Frame[] {
  const frames: Frame[] = [];
  const decoder = createLineDecoder(maxBytes, (frame) => void frames.push(frame));
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return frames;
}
const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const texts = (frames: readonly Frame[]): (string | Frame)[] => frames.map((frame) => (frame.type === 'line' ? frame.text.trim() : frame));

test('lines end at a line feed; a carriage return, empty lines, a byte order mark and a missing last line feed are tolerated', () => {
  expect(texts(decode([bytes('\ufeff{"a":1}\r\n\n \t\r\n{"b":"ü€😀"}\n{"c"')]))).toEqual(['{"a":1}', '{"b":"ü€😀"}', '{"c"']);
});

test('bytes that are not UTF-8 are said to be so, and the next line is fine', () => {
  expect(texts(decode([Buffer.from([0x22, 0xff, 0x22, 0x0a]), bytes('ok\n'), Buffer.from([0xe2, 0x82])]))).toEqual([
    { type: 'not_utf8' },
    'ok',
    { type: 'not_utf8' },
  ]);
});

test('a line of exactly the bound passes, one byte more is skipped to its end', () => {
  expect(texts(decode([bytes(`${'x'.repeat(10)}\n${'y'.repeat(11)}\nok\n`)], 10))).toEqual(['x'.repeat(10), { type: 'oversized' }, 'ok']);
});

test('an oversized line costs no more memory than the bound', () => {
  const frames: Frame[] = [];
  const decoder = createLineDecoder(1024 * 1024, (frame) => void frames.push(frame));
  const chunk = Buffer.alloc(64 * 1024, 0x78);
  const before = process.memoryUsage().arrayBuffers;
  for (let sent = 0; sent < 64; sent++) decoder.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 1024 * 1024);
  expect(frames).toEqual([{ type: 'oversized' }]);
  decoder.push(bytes('\nok\n'));
  expect(texts(frames)).toEqual([{ type: 'oversized' }, 'ok']);
});

test('how the bytes are chunked never changes what is decoded', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }).map(bytes),
    fc.uint8Array({ maxLength: 60 }),
    fc.constantFrom(bytes(''), bytes('\r'), bytes('\ufeff{}'), bytes('€'.repeat(20))),
  );
  const stream = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.concat(lines.flatMap((each) => [each, bytes('\n')])));
  fc.assert(
    fc.property(stream, fc.array(fc.nat(80), { maxLength: 40 }), fc.nat(60), (all, cuts, max) => {
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(all.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(all.subarray(from));
      const whole = decode([all], max);
      expect(decode(chunks, max)).toEqual(whole);
      expect(
        decode(
          [...all].map((byte) => Uint8Array.of(byte)),
          max,
        ),
      ).toEqual(whole);
    }),
  );
});
