/** Random choices that the same seed makes again. */
export interface Random {
  /** 0 to below `end`. */
  below(end: number): number;
  chance(of: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** mulberry32: 32 bits of state are plenty for choosing mutations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (of) => next() < of,
    pick: (from) => {
      const picked = from[below(from.length)];
      if (from.length === 0) throw new Error('nothing to pick from');
      // `T` may include undefined; an index below the length is always there.
      return picked as (typeof from)[number];
    },
  };
}
