import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgress } from './progress.ts';

let now = 0;
const clock = { now: () => now, monotonic: () => now };
const sent: { progressToken: unknown; progress: number; message: string }[] = [];
const offer = (message: unknown): void => void sent.push((message as { params: (typeof sent)[number] }).params);

function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 500) {
    now += 500;
    vi.advanceTimersByTime(500);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  now = 0;
  sent.length = 0;
});
afterEach(() => vi.useRealTimers());

test('the first message goes at once, later ones at most every 5 s with the newest, and silence is filled', () => {
  const progress = createProgress({ _meta: { progressToken: 'p' } }, clock, offer);
  progress.report('one');
  progress.report('two');
  pass(1000);
  progress.report('three');
  pass(4000);
  progress.report('four');
  pass(15_000);
  progress.stop();
  pass(20_000);
  progress.report('late');
  expect(sent.map(({ message }) => message)).toEqual(['one', 'three (5 s)', 'four (10 s)', 'four (15 s)', 'four (20 s)']);
  expect(sent.map(({ progress: step }) => step)).toEqual([1, 2, 3, 4, 5]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that says nothing is kept alive', () => {
  const progress = createProgress({ _meta: { progressToken: 0 } }, clock, offer);
  pass(10_000);
  progress.stop();
  expect(sent).toEqual([
    { progressToken: 0, progress: 1, message: 'still running after 5 s' },
    { progressToken: 0, progress: 2, message: 'still running after 10 s' },
  ]);
});

test.each([undefined, null, {}, [], true, 1.5, Number.NaN])('a token %s counts as none', (progressToken) => {
  const progress = createProgress({ _meta: { progressToken } }, clock, offer);
  progress.report('x');
  pass(10_000);
  expect(sent).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a message is cut at 500 units and never ends in half a character', () => {
  const progress = createProgress({ _meta: { progressToken: 'p' } }, clock, offer);
  progress.report(`${'x'.repeat(499)}😀`);
  progress.stop();
  expect(sent[0]?.message).toBe(`${'x'.repeat(499)}\ufffd`);
});
