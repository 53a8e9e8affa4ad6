import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SpoolPage } from '../execution/types.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import { maskedText } from './read-spool.ts';

const TOKEN = 'ghp_FakeToken0FakeToken0FakeToken0FakeTo';

/** A spool of ASCII text: bytes are characters. */
function spool(text: string): (cursor: number, max_bytes: number) => Promise<SpoolPage> {
  return async (cursor, max_bytes) => {
    const at = Math.min(cursor, text.length);
    const next = Math.min(text.length, at + max_bytes);
    return {
      cursor: at,
      next_cursor: next,
      chunks: [{ stream: 'stdout', text: text.slice(at, next) }],
      end: next === text.length,
      dropped_bytes: 0,
    };
  };
}

test('no way of paging through a spool shows a piece of a secret that the whole would not show', async () => {
  const redactor = createRedactor();
  const text = `${'before '.repeat(300)}= ${TOKEN}\n${'after '.repeat(300)}`;
  const at = text.indexOf(TOKEN);
  const read = spool(text);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: at - 60, max: at + 60 }), fc.integer({ min: 1, max: 100 }), async (cursor, size) => {
      const shown = await maskedText(await read(cursor, size), read, redactor);
      const outside = text
        .slice(cursor, cursor + size)
        .replaceAll(/[\s\S]/g, (char, index: number) => (cursor + index >= at && cursor + index < at + TOKEN.length ? '' : char));
      expect(shown.replace('[redacted:github_token]', '')).toBe(outside);
    }),
  );
});
