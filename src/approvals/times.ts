import type { Clock } from '../kernel/clock.ts';
import type { Uptime } from '../kernel/uptime.ts';

/** How long a question stays open, and a yes usable. */
export const LIFE_MS = 10 * 60_000;

/** For so long after it was decided an identical call that was not told yet still gets the answer. */
export const ATTACH_MS = 60_000;

/** Repeated grave approvals within this need a typed word. */
export const FRICTION_MS = 60_000;

/** One point in time on both clocks: the wall's, which people read and can set, and the machine's, which only goes forward. */
export interface Moment {
  readonly at: number;
  readonly boot: string;
  readonly up: number;
}

export function createMoments(clock: Clock, uptime: () => Uptime): () => Moment {
  return () => {
    const { boot, ms } = uptime();
    return { at: clock.now(), boot, up: ms };
  };
}

/**
 * Over as soon as either clock says so, and with the boot it was asked in: a wall clock that is set back revives nothing, whether or
 * not anybody looked in between.
 */
export function isOver(
  row: { readonly boot: string; readonly created_up: number; readonly created_at: number; readonly expires_at: number },
  { at, boot, up }: Moment,
): boolean {
  return at >= row.expires_at || boot !== row.boot || up - row.created_up >= row.expires_at - row.created_at;
}
