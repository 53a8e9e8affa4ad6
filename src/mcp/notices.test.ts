import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import { createNotices } from './notices.ts';

const owner = { organization: 'o', agent: 'a', run: 'r', workspace: 'w' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an answer waits one second at most; what comes later goes with the next one, once', async () => {
  const late = Promise.withResolvers<readonly string[]>();
  const asked = [late.promise];
  const notices = createNotices(() => asked.shift() ?? Promise.resolve(['new']), silentLogger);
  const first = notices.take(owner);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toEqual([]);
  late.resolve(['late']);
  await vi.advanceTimersByTimeAsync(0);
  expect(await notices.take(owner)).toEqual(['late', 'new']);
  expect(await notices.take(owner)).toEqual(['new']);
});

test('reading them may fail, and what is put back is kept up to 32', async () => {
  const notices = createNotices(() => Promise.reject(new Error('disk')), silentLogger);
  expect(await notices.take(owner)).toEqual([]);
  notices.putBack(
    owner,
    Array.from({ length: 40 }, (_, index) => `${index}`),
  );
  expect(await notices.take({ ...owner, run: 'another' })).toEqual([]);
  const kept = await notices.take(owner);
  expect([kept.length, kept[0]]).toEqual([32, '8']);
});
