import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isId, newId } from './ids.ts';

const time = fc.integer({ min: 0, max: 2 ** 50 - 1 });

test('ids are of their shape and sort by when they were made', () => {
  fc.assert(
    fc.property(time, time, (one, other) => {
      const [first, second] = [newId('act', one), newId('act', other)];
      expect(isId('act', first)).toBe(true);
      if (one !== other) expect(first < second).toBe(one < other);
    }),
    {
      examples: [
        [2 ** 30 - 1, 2 ** 30],
        [31, 32],
        [2 ** 40, 2 ** 40 - 1],
      ],
    },
  );
});

test('the time stands in the first ten characters, what comes after is not the same twice', () => {
  expect(newId('job', 0).slice(4, 14)).toBe('0000000000');
  expect(newId('job', 32 ** 10 - 1).slice(4, 14)).toBe('zzzzzzzzzz');
  expect(newId('job', 1_700_000_000_000).slice(4, 14)).toBe('01hf7yat00');
  expect(new Set(Array.from({ length: 1_000 }, () => newId('job', 1).slice(14))).size).toBe(1_000);
});
