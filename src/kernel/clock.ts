/** The one source of time. `now` is wall time in epoch milliseconds, `monotonic` never goes back and is for durations. */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
