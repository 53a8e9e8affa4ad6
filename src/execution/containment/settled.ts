import type { Stats } from 'node:fs';

/** A change within the tick of the file system's clock leaves the same change time. */
const TICK_MS = 50;
/** Some file systems keep whole seconds, or every second one. */
const COARSE_MS = 2_100;

/** So old that whatever changes it from now on gives it another change time, which nobody can set back. */
export function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > (ctimeMs % 1000 === 0 ? COARSE_MS : TICK_MS);
}
