import { type Looks, recordLooks } from './looks.ts';

/** More are forgotten, all at once. */
const MAX_KEPT = 16;

interface Kept<T> {
  readonly value: T;
  readonly from: readonly unknown[];
  readonly holds: () => boolean;
}

/**
 * Gives what was gathered before, the very same object, as long as each look it came from would find the same now: every one of them
 * is repeated at each use, so that nothing a run or a person has changed in between goes unseen. What is saved is drawing the
 * conclusions anew. `from`: what else it was made of, compared by identity.
 */
export type Remembered<T> = (key: string, from: readonly unknown[], gather: (looks: Looks) => T) => T;

export function createRemembered<T>(): Remembered<T> {
  const kept = new Map<string, Kept<T>>();
  return (key, from, gather) => {
    const before = kept.get(key);
    if (before?.from.every((one, index) => one === from[index]) && before.holds()) return before.value;
    kept.delete(key);
    const looks = recordLooks();
    const value = gather(looks);
    const holds = looks.end();
    if (holds !== undefined) {
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(key, { value, from, holds });
    }
    return value;
  };
}
