/** What one round measured, by name; milliseconds unless the row says otherwise. */
export type Round = Readonly<Record<string, number>>;

export interface Spread {
  readonly median: number;
  /** Tenth and ninetieth percentile. */
  readonly low: number;
  readonly high: number;
}

/** Ours against a floor, both measured in turn in this run. */
export interface Ratio {
  readonly what: string;
  readonly against: string;
  readonly unit: string;
  readonly ours: Spread;
  readonly floor: Spread;
  /** What DESIGN section 12 allows of ours / floor; absent: for information. */
  readonly target?: { readonly most: number } | { readonly least: number };
  readonly rounds: number;
  readonly note?: string;
}

/** A figure that nothing is compared with. */
export interface Figure {
  readonly what: string;
  readonly value: string;
}

export interface Rows {
  readonly ratios?: readonly Ratio[];
  readonly figures?: readonly Figure[];
}

/** One way to do it; resolves to what it took. */
export type Measure = () => Promise<number>;

/** All ways in turn, round after round, so that whatever else the machine does meets all of them. The first round only warms caches. */
export async function interleaved<Name extends string>(
  rounds: number,
  ways: Readonly<Record<Name, Measure>>,
): Promise<Readonly<Record<Name, Spread>>> {
  const names = Object.keys(ways) as Name[];
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const took = await ways[name]();
      if (round > 0) taken.get(name)?.push(took);
    }
  }
  return Object.fromEntries(names.map((name) => [name, spreadOf(taken.get(name) ?? [])])) as Record<Name, Spread>;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { median: at(0.5), low: at(0.1), high: at(0.9) };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}
