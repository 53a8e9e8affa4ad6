import { expect, test, vi } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import { createToolList } from './tool-list.ts';
import type { UpstreamTool } from './types.ts';
import type { UpstreamClient } from './wire/client.ts';

function listOf(list: () => Promise<readonly unknown[]>): ReturnType<typeof createToolList> {
  const client = { capabilities: { tools: {} }, list } as unknown as UpstreamClient;
  return createToolList({
    name: 'x',
    logger: silentLogger,
    timeout_ms: 1_000,
    ended: new AbortController().signal,
    vet: async (definitions) => definitions as readonly UpstreamTool[],
    client: () => client,
    changed: () => {},
    keep: () => {},
  });
}

test('a list that has changed is read at once, and once more however often that is said meanwhile; never two at a time', async () => {
  vi.useFakeTimers();
  try {
    const reads: PromiseWithResolvers<readonly unknown[]>[] = [];
    const list = listOf(() => {
      const read = Promise.withResolvers<readonly unknown[]>();
      reads.push(read);
      return read.promise;
    });
    for (let at = 0; at < 1_000; at++) list.outdated();
    expect(reads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5_000);
    // The first one is still being read.
    expect(reads).toHaveLength(1);
    reads[0]?.resolve([{ name: 'first' }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(list.tools()).toEqual([{ name: 'first' }]);
    expect(reads).toHaveLength(2);
    reads[1]?.resolve([{ name: 'second' }]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(list.tools()).toEqual([{ name: 'second' }]);
    expect(reads).toHaveLength(2);
    list.outdated();
    expect(reads).toHaveLength(3);
    list.close();
  } finally {
    vi.useRealTimers();
  }
});
