import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunnerClient } from './client.ts';
import type { ToRunner } from './protocol.ts';
import { createSpare } from './spare.ts';

const WORKSPACES = [{ path: '/w', access: 'write' }] as const;

interface Fake extends RunnerClient {
  readonly told: ToRunner[];
  state: 'up' | 'dead' | 'let go';
}

function fakeRunner(): Fake {
  const runner: Fake = {
    told: [],
    state: 'up',
    ask: () => Promise.reject(new Error('not asked here')),
    tell: (message) => runner.told.push(message) > 0,
    ended: () => Promise.resolve(null),
    forget() {},
    usable: () => runner.state === 'up',
    disconnect() {
      runner.state = 'let go';
    },
  };
  return runner;
}

describe('a spare runner', () => {
  let made: Fake[];
  const make = (): RunnerClient => {
    const runner = fakeRunner();
    made.push(runner);
    return runner;
  };
  beforeEach(() => {
    made = [];
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  it('is one, gets ready, and is taken once', () => {
    const spare = createSpare(make);
    spare.prepare(WORKSPACES);
    spare.prepare(WORKSPACES);
    expect(made).toHaveLength(1);
    expect(made[0]?.told).toEqual([{ type: 'warm', workspaces: WORKSPACES }]);
    expect(spare.take()).toBe(made[0]);
    expect(spare.take()).toBe(made[1]);
    vi.advanceTimersByTime(60_000);
    expect(made.map(({ state }) => state)).toEqual(['up', 'up']);
  });

  it('is let go when nobody needs it for a minute', () => {
    const spare = createSpare(make);
    spare.prepare(WORKSPACES);
    vi.advanceTimersByTime(59_000);
    spare.prepare(WORKSPACES);
    vi.advanceTimersByTime(59_999);
    expect(made.map(({ state }) => state)).toEqual(['up']);
    vi.advanceTimersByTime(1);
    expect(made.map(({ state }) => state)).toEqual(['let go']);
  });

  it('that has died while it waited is not given to anybody', () => {
    const spare = createSpare(make);
    spare.prepare(WORKSPACES);
    Object.assign(made[0] ?? {}, { state: 'dead' });
    expect(spare.take()).toBe(made[1]);
    spare.prepare(WORKSPACES);
    Object.assign(made[2] ?? {}, { state: 'dead' });
    spare.prepare(WORKSPACES);
    expect(made).toHaveLength(4);
    expect(made[3]?.state).toBe('up');
  });

  it('ends with its client, and none is made afterwards', () => {
    const spare = createSpare(make);
    spare.prepare(WORKSPACES);
    spare.close();
    spare.prepare(WORKSPACES);
    expect(made.map(({ state }) => state)).toEqual(['let go']);
  });
});
