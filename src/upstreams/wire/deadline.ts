/** setTimeout's own limit. */
const MAX_TIMER_MS = 2_147_483_647;
/** However often somebody is asked in the course of one request. */
const MAX_HELD_MS = 60 * 60_000;

/** Time for one request, whose clock stops while a person answers a question in its course. */
export interface Deadline {
  /** Stops the clock until the function that it returns is called; several may. */
  hold(): () => void;
  end(): void;
}

export function createDeadline(ms: number, over: () => void): Deadline {
  let left = Math.min(ms, MAX_TIMER_MS);
  let holds = 0;
  let held_ms = 0;
  let at = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(end, left);

  function end(): void {
    timer = undefined;
    over();
  }

  /** What ran since the last turn is taken off, whichever of the two clocks it was. */
  function turn(): void {
    const now = performance.now();
    if (holds > 0) held_ms += now - at;
    else left -= now - at;
    at = now;
    clearTimeout(timer);
  }

  return {
    hold() {
      if (timer === undefined) return () => {};
      turn();
      holds++;
      timer = setTimeout(end, Math.max(0, MAX_HELD_MS - held_ms));
      let released = false;
      return () => {
        if (released || timer === undefined) return;
        released = true;
        turn();
        holds--;
        timer = setTimeout(end, holds > 0 ? Math.max(0, MAX_HELD_MS - held_ms) : Math.max(1, left));
      };
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
