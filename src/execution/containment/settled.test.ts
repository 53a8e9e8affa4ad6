import type { Stats } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isSettled } from './settled.ts';

const NOW = 1_800_000_000_123.25;
beforeEach(() => vi.useFakeTimers({ now: NOW }));
afterEach(() => vi.useRealTimers());

it.each([
  ['just now', NOW - 1, false],
  ['a tick ago', NOW - 60.5, true],
  ['in the future: a clock was set', NOW + 10_000, false],
  ['a moment ago, on a file system of whole seconds', Math.floor(NOW / 1000) * 1000, false],
  ['a second ago there', Math.floor(NOW / 1000) * 1000 - 1_000, false],
  ['three seconds ago there', Math.floor(NOW / 1000) * 1000 - 3_000, true],
])('what changed %s', (_when, ctimeMs, settled) => {
  expect(isSettled({ ctimeMs } as Stats)).toBe(settled);
});
