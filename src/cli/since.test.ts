import { describe, expect, it, test } from 'vitest';
import { parseLife, parseSince } from './since.ts';

const now = Date.UTC(2026, 10, 30, 15);

it.each([
  ['90m', now - 90 * 60_000],
  ['12h', now - 12 * 3_600_000],
  ['7d', now - 7 * 86_400_000],
  ['2026-11-29', Date.UTC(2026, 10, 29)],
  ['2026-11-29T10:30Z', Date.UTC(2026, 10, 29, 10, 30)],
  ['2026-11-29T10:30:01.5+02:00', Date.UTC(2026, 10, 29, 8, 30, 1, 500)],
])('%s', (text, at) => {
  expect(parseSince(text, now)).toBe(at);
});

it.each(['', '1', 'may', 'yesterday', '-1d', '7w', '1d12h', '2026-13-40', '2026-11-29 10:30', '9999999d'])('refuses "%s"', (text) => {
  expect(() => parseSince(text, now)).toThrow(expect.objectContaining({ code: 'invalid_arguments' }));
});

describe('a length of time', () => {
  test.each([
    ['90m', 5_400_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseLife('--remember', text, 30)).toBe(ms);
  });

  test.each(['31d', '0h', '1', 'h', '-1h', '1.5h', '', '9999999999h', '1h '])('%j is refused, and the option named', (text) => {
    expect(() => parseLife('--remember', text, 30)).toThrow('--remember');
  });
});
