import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeadline } from './deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('its clock stops while it is held, by however many, and goes on with what was left', () => {
  const over = vi.fn();
  const deadline = createDeadline(1_000, over);
  vi.advanceTimersByTime(600);
  const first = deadline.hold();
  const second = deadline.hold();
  vi.advanceTimersByTime(60_000);
  first();
  first();
  vi.advanceTimersByTime(60_000);
  expect(over).not.toHaveBeenCalled();
  second();
  vi.advanceTimersByTime(399);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(over).toHaveBeenCalledOnce();
});

test('nobody holds it for longer than an hour, in one piece or in many', () => {
  const over = vi.fn();
  const deadline = createDeadline(1_000, over);
  for (let time = 0; time < 7; time++) {
    const release = deadline.hold();
    vi.advanceTimersByTime(10 * 60_000);
    release();
  }
  expect(over).toHaveBeenCalledOnce();
});

test('after its end it says nothing, whoever still holds it', () => {
  const over = vi.fn();
  const deadline = createDeadline(1_000, over);
  const release = deadline.hold();
  deadline.end();
  release();
  deadline.hold()();
  vi.advanceTimersByTime(10_000_000);
  expect(over).not.toHaveBeenCalled();
});
