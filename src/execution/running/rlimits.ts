import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import type { Dimension, DimensionReport, Limits } from '../types.ts';

/** Our own hard limits: a child can be given less, never more. `Infinity` for unlimited; undefined when unreadable. */
export interface HardLimits {
  readonly open_files: number;
  readonly file_bytes: number;
  readonly processes: number;
  readonly data_bytes: number;
}

const ROWS = {
  open_files: 'Max open files',
  file_bytes: 'Max file size',
  processes: 'Max processes',
  data_bytes: 'Max data size',
} as const satisfies Record<keyof HardLimits, string>;

export function parseHardLimits(text: string): HardLimits {
  const value = (row: string): number => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(row));
    const hard = line?.slice(row.length).trim().split(/\s+/)[1];
    return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
  };
  return {
    open_files: value(ROWS.open_files),
    file_bytes: value(ROWS.file_bytes),
    processes: value(ROWS.processes),
    data_bytes: value(ROWS.data_bytes),
  };
}

export function ownHardLimits(): HardLimits {
  return parseHardLimits(readFileSync('/proc/self/limits', 'utf8'));
}

/**
 * Since Linux 5.14 RLIMIT_NPROC is counted per user and user namespace, so that it bounds one sandbox. Before, it counted every process
 * of the user, and a limit meant for a run would have been used up by the desktop.
 */
export function countsProcessesPerNamespace(version: string = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

type Reports = Readonly<Partial<Record<Dimension, DimensionReport>>>;

const noCgroup = 'control groups can not be written here';

/** What the shell's own limits give, where `byCgroup` doesn't have something better. */
export function processLimitReports(byCgroup: Reports, perNamespace: boolean = countsProcessesPerNamespace()): Reports {
  return {
    fsize: { state: 'enforced', by: 'prlimit, per file' },
    cpu: { state: 'not_enforced', reason: `${noCgroup}, and a share of the CPUs can't be limited in another way` },
    memory: {
      state: 'best_effort',
      by: 'prlimit on the data of each process',
      reason: `${noCgroup}; several processes together can use more`,
    },
    pids: !perNamespace
      ? { state: 'not_enforced', reason: `${noCgroup}, and before Linux 5.14 a process limit would count all of this user's processes` }
      : process.getuid?.() === 0
        ? {
            state: 'best_effort',
            by: 'prlimit per user namespace',
            reason: `${noCgroup}; the kernel exempts runs that are root on the host`,
          }
        : { state: 'enforced', by: 'prlimit per user namespace' },
    ...byCgroup,
  };
}

/**
 * Lines for the launcher. Limits are set by the shell that is there anyway, before the gate, soft and hard; raising a hard limit needs a
 * capability that nothing inside has. No core files. Sizes are in units of 1024 bytes.
 */
export function ulimitLines(limits: Limits, hard: HardLimits, byCgroup: Reports): string[] {
  const kib = (bytes: number): number => Math.max(1, Math.floor(bytes / 1024));
  const line = (flag: string, value: number): string => `ulimit -SH${flag} ${value} || exit 125`;
  return [
    line('c', 0),
    line('n', Math.min(limits.open_files, hard.open_files)),
    line('f', kib(Math.min(limits.file_bytes, hard.file_bytes))),
    // The launcher and the init of the namespace count too.
    ...(byCgroup.pids === undefined && countsProcessesPerNamespace() ? [line('u', Math.min(limits.pids + 2, hard.processes))] : []),
    ...(byCgroup.memory === undefined ? [line('d', kib(Math.min(limits.memory_bytes, hard.data_bytes)))] : []),
  ];
}
