import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MIB = 1024 * 1024;
/** What a heap may move by itself: code compiled late, caches of the engine. */
const SLACK = 8 * MIB;

export interface MemoryWatch {
  sample(): void;
  readonly samples: number;
  report(): string;
  /** Why it isn't flat; undefined when it is. */
  problem(): string | undefined;
}

/** Heap in use after a collection, over a run. Growth is the middle of the last third over that of the second: the first third warms up. */
export function watchMemory(read: () => number = liveHeap): MemoryWatch {
  const samples: number[] = [];
  const growth = (): { readonly before: number; readonly now: number } => {
    const third = Math.floor(samples.length / 3);
    return { before: median(samples.slice(third, 2 * third)), now: median(samples.slice(2 * third)) };
  };
  return {
    sample: () => void samples.push(read()),
    get samples() {
      return samples.length;
    },
    report: () => `${samples.length} samples, ${mib(growth().before)} in the middle, ${mib(growth().now)} at the end`,
    problem() {
      const { before, now } = growth();
      return samples.length >= 9 && now > before * 1.1 + SLACK ? `memory grows: ${mib(before)}, later ${mib(now)}` : undefined;
    },
  };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function liveHeap(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
