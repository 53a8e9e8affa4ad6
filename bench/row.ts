/** One line of bench/results.md: what was measured, against what, in the same run. */
export interface Row {
  readonly what: string;
  readonly against: string;
  /** Milliseconds, median. */
  readonly ours: number;
  readonly floor: number;
  /** Highest ours / floor that DESIGN allows; undefined: no target is written. */
  readonly target?: number;
  readonly rounds: number;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Ours and the floor in turn, so that whatever else the machine does meets both. The first round only warms caches. */
export async function interleaved(
  rounds: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<{ ours: number; floor: number }> {
  const times: { ours: number; floor: number }[] = [];
  for (let round = 0; round <= rounds; round++) times.push({ ours: await ours(), floor: await floor() });
  const counted = times.slice(1);
  return { ours: median(counted.map((time) => time.ours)), floor: median(counted.map((time) => time.floor)) };
}
