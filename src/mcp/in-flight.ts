import { AppError } from '../kernel/errors.ts';
import type { RequestId } from './message.ts';

/** One request that has not been answered yet. */
export interface Flight {
  readonly signal: AbortSignal;
  /** True once the client said that it doesn't want the answer: nothing may be sent for it any more. */
  readonly unwanted: boolean;
  end(): void;
}

export interface InFlight {
  open(id: RequestId): Flight;
  readonly count: number;
  /** Cancels every request with this id; how many there were. */
  cancel(id: RequestId, reason: string): number;
  /** Aborts all of them; their answers are still wanted. */
  abortAll(reason: string): void;
}

/**
 * Requests under way. An id is the client's and may be in use several times although it must not be, so each request is its own object
 * and an id only finds them (1 and "1" are different ids).
 */
export function createInFlight(): InFlight {
  const flights = new Map<RequestId, Set<{ controller: AbortController; unwanted: boolean }>>();
  let count = 0;

  return {
    open(id) {
      const flight = { controller: new AbortController(), unwanted: false };
      const same = flights.get(id) ?? new Set();
      flights.set(id, same.add(flight));
      count++;
      return {
        signal: flight.controller.signal,
        get unwanted() {
          return flight.unwanted;
        },
        end() {
          if (!same.delete(flight)) return;
          count--;
          if (same.size === 0) flights.delete(id);
        },
      };
    },
    get count() {
      return count;
    },
    cancel(id, reason) {
      const same = flights.get(id);
      if (same === undefined) return 0;
      for (const flight of same) {
        flight.unwanted = true;
        flight.controller.abort(new AppError('cancelled', `The client cancelled the request: ${reason}`));
      }
      return same.size;
    },
    abortAll(reason) {
      for (const same of flights.values()) {
        for (const { controller } of same) controller.abort(new AppError('cancelled', reason));
      }
    },
  };
}
