import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import type { Figure, Ratio, Rows, Spread } from './row.ts';

/** bench/results.md: what was measured, and on what. */
export function page(rows: readonly Rows[], loads: readonly [string, string]): string {
  const ratios = rows.flatMap((row) => row.ratios ?? []);
  const figures = rows.flatMap((row) => row.figures ?? []);
  return [
    '# Benchmarks',
    'Written by `npm run bench`. Ours and what it is measured against are taken in turn in one run, so the ratio is what counts: absolute times belong to the machine. Median (10 % to 90 %).',
    machine(loads),
    table(['what', 'against', 'ours', 'floor', 'ratio', 'target', 'rounds'], ratios.map(ratioCells)),
    'For information:',
    table(['what', 'value'], figures.map(figureCells)),
  ]
    .join('\n\n')
    .concat('\n');
}

export function ratioCells({ what, against, unit, ours, floor, target, rounds }: Ratio): readonly string[] {
  return [
    what,
    against,
    spread(ours, unit),
    spread(floor, unit),
    (ours.median / floor.median).toFixed(2),
    verdict(ours.median / floor.median, target),
    String(rounds),
  ];
}

export function figureCells({ what, value }: Figure): readonly string[] {
  return [what, value];
}

function verdict(ratio: number, target: Ratio['target']): string {
  if (target === undefined) return '';
  if ('most' in target) return `at most ${target.most}: ${ratio <= target.most ? 'met' : '**missed**'}`;
  return `at least ${target.least}: ${ratio >= target.least ? 'met' : '**missed**'}`;
}

function spread({ median, low, high }: Spread, unit: string): string {
  const text = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));
  return `${text(median)} ${unit} (${text(low)} to ${text(high)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Facts, and no names. */
function machine([before, after]: readonly [string, string]): string {
  const bwrap = spawnSync('bwrap', ['--version'], { encoding: 'utf8' }).stdout?.trim() || 'no bubblewrap in PATH';
  const { platform, arch, versions } = process;
  return [
    `- ${new Date().toISOString().slice(0, 16)}Z, ${platform} ${arch}, kernel ${release().replace(/-.*/, '')}, Node ${versions.node}, ${bwrap}`,
    `- ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${(totalmem() / 1024 ** 3).toFixed(1)} GiB, uid ${process.getuid?.() === 0 ? 0 : 'of a user'}`,
    `- load of the last minute: ${before} before, ${after} after`,
  ].join('\n');
}

export function load(): string {
  return readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? 'unknown';
}
