import type { Change } from './types.ts';

/** Some servers say for every one of a hundred items that it has changed. */
const TOGETHER_MS = 1_000;

type Listed = 'prompts' | 'resources';

export interface Announcing {
  /** Told once for all that is said within a second. */
  later(type: Listed): void;
  close(): void;
}

export function createAnnouncing(announce: (change: Change) => void): Announcing {
  const waiting = new Map<Listed, NodeJS.Timeout>();
  return {
    later(type) {
      if (waiting.has(type)) return;
      const tell = (): void => {
        waiting.delete(type);
        announce({ type });
      };
      waiting.set(type, setTimeout(tell, TOGETHER_MS).unref());
    },
    close() {
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}
