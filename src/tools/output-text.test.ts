import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StreamView } from '../execution/types.ts';
import { ANSWER_CHARS, ANSWER_LINES, fitStream, linesIn, streamText } from './output-text.ts';

function whole(text: string): StreamView {
  return { head: text, tail: '', omitted_bytes: 0, total_bytes: Buffer.byteLength(text), sha256: null };
}

test('what fits is shown as it is', () => {
  expect(streamText(whole('one\ntwo\n'), 'exec_x')).toBe('one\ntwo\n');
});

test('many short lines are cut, counted, and told how to read on', () => {
  const text = Array.from({ length: 5_000 }, (_, index) => `${index + 1}\n`).join('');
  const { head, tail, omitted } = fitStream(whole(text));
  expect(text.startsWith(head)).toBe(true);
  expect(text.endsWith(tail)).toBe(true);
  expect(linesIn(head) + linesIn(tail)).toBe(ANSWER_LINES);
  expect(head.length + omitted + tail.length).toBe(text.length);
  expect(streamText(whole(text), 'exec_x')).toContain(
    `[... ${omitted} bytes left out here; read on with shell_output {"id": "exec_x", "cursor": ${head.length}} ...]`,
  );
});

test('reading on from the cursor never skips a byte, whatever the output was', () => {
  const piece = fc.oneof(fc.constantFrom('\n', 'a', '\ufffd', '😀', 'x'.repeat(500), '\n'.repeat(700)), fc.string({ maxLength: 20 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 120 }), (pieces) => {
      const view = whole(pieces.join('').toWellFormed());
      const { head, tail, omitted } = fitStream(view);
      expect(head.length + tail.length).toBeLessThanOrEqual(Math.max(ANSWER_CHARS, 0));
      expect(linesIn(head) + linesIn(tail)).toBeLessThanOrEqual(ANSWER_LINES);
      if (omitted === 0) expect(head + tail).toBe(view.head);
      else expect(omitted).toBeGreaterThanOrEqual(view.total_bytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
    }),
    { numRuns: 200 },
  );
});
