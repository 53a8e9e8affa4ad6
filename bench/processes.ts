import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** PIDs of a process's living children, and theirs. */
export function descendants(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** The runner among the descendants of a process. */
export function runnerOf(pid: number): number {
  const found = descendants(pid).find((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('runner.js'));
  if (found === undefined) throw new Error('there is no runner');
  return found;
}

/** MiB: resident, and the process's own share of it (pages that several use count in part). */
export function memoryOf(pid: number): { readonly resident: number; readonly share: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return { resident: field(text, 'Rss') / 1024, share: field(text, 'Pss') / 1024 };
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** MiB, highest resident size since `forgetPeak`. */
export function peakOf(pid: number): number {
  return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM') / 1024;
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN);
}
