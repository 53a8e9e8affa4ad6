import type { Dimension, Limits } from '../types.ts';

export type Controller = 'memory' | 'pids' | 'cpu';

interface Setting {
  readonly file: string;
  readonly value: string;
  /** Absent on kernels without swap accounting and the like; its failure costs nothing. */
  readonly optional?: true;
}

interface Control {
  readonly dimension: Dimension;
  readonly settings: (limits: Limits) => readonly Setting[];
  /** Where the kernel counts how often the limit was hit. */
  readonly hits?: { readonly file: string; readonly key: string };
}

const CPU_PERIOD_US = 100_000;
const quota = (limits: Limits): number => Math.max(1_000, Math.round(limits.cpus * CPU_PERIOD_US));
/** The init of the namespace and bubblewrap's own process are in the group and aren't the user's. */
const pids = (limits: Limits): string => String(limits.pids + 2);

export const CONTROLS: Readonly<Record<1 | 2, Readonly<Record<Controller, Control>>>> = {
  1: {
    memory: {
      dimension: 'memory',
      settings: (limits) => [
        { file: 'memory.limit_in_bytes', value: String(limits.memory_bytes) },
        { file: 'memory.memsw.limit_in_bytes', value: String(limits.memory_bytes), optional: true },
      ],
      hits: { file: 'memory.oom_control', key: 'oom_kill' },
    },
    pids: {
      dimension: 'pids',
      settings: (limits) => [{ file: 'pids.max', value: pids(limits) }],
      hits: { file: 'pids.events', key: 'max' },
    },
    cpu: {
      dimension: 'cpu',
      settings: (limits) => [
        { file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_US) },
        { file: 'cpu.cfs_quota_us', value: String(quota(limits)) },
      ],
    },
  },
  2: {
    memory: {
      dimension: 'memory',
      settings: (limits) => [
        { file: 'memory.max', value: String(limits.memory_bytes) },
        { file: 'memory.swap.max', value: '0', optional: true },
      ],
      hits: { file: 'memory.events', key: 'oom_kill' },
    },
    pids: {
      dimension: 'pids',
      settings: (limits) => [{ file: 'pids.max', value: pids(limits) }],
      hits: { file: 'pids.events', key: 'max' },
    },
    cpu: { dimension: 'cpu', settings: (limits) => [{ file: 'cpu.max', value: `${quota(limits)} ${CPU_PERIOD_US}` }] },
  },
};

export function isController(name: string): name is Controller {
  return name === 'memory' || name === 'pids' || name === 'cpu';
}

/** The kernel rounds memory down to whole pages (at most 64 KiB big). */
export function readsBack(wanted: string, read: string): boolean {
  if (read === wanted) return true;
  const [a, b] = [Number(wanted), Number(read)];
  return Number.isFinite(a) && Number.isFinite(b) && b <= a && a - b < 65_536;
}

/** The number behind `key` in a file of `key number` lines. */
export function countIn(text: string, key: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1)) || 0;
}
