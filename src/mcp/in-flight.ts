import { AppError } from '../kernel/errors.ts';
import type { RequestId } from '../kernel/json-rpc/message.ts';
import { createPassing } from '../kernel/passing.ts';

/** One request that has not been answered yet. */
export interface Flight {
  readonly signal: AbortSignal;
  /** True once the client said that it doesn't want the answer: nothing may be sent for it any more. */
  readonly unwanted: boolean;
  /** Nobody waits for the answer any more. */
  cancel(reason: string): void;
  end(): void;
}

/** How many requests may be under way at once, and how many are; shared by everything that counts together. */
export interface Places {
  readonly max: number;
  taken: number;
}

export interface InFlight {
  /** Undefined: no place is free. */
  open(id: RequestId): Flight | undefined;
  readonly places: Places;
  /** Cancels every request with this id; how many there were. */
  cancel(id: RequestId, reason: string): number;
  /** Aborts all of them; their answers are still wanted. */
  abortAll(reason: string): void;
}

/**
 * Requests under way. An id is the client's and may be in use several times although it must not be, so each request is its own object
 * and an id only finds them (1 and "1" are different ids).
 */
export function createInFlight(places: Places): InFlight {
  interface Open {
    readonly id: RequestId;
    readonly controller: AbortController;
    unwanted: boolean;
  }
  const flights = createPassing<Open>();

  function cancel(flight: Open, reason: string): void {
    flight.unwanted = true;
    flight.controller.abort(new AppError('cancelled', reason));
  }

  return {
    places,
    open(id) {
      if (places.taken >= places.max) return undefined;
      const flight: Open = { id, controller: new AbortController(), unwanted: false };
      const remove = flights.add(flight);
      places.taken++;
      return {
        signal: flight.controller.signal,
        get unwanted() {
          return flight.unwanted;
        },
        cancel: (reason) => cancel(flight, reason),
        end() {
          if (remove()) places.taken--;
        },
      };
    },
    cancel(id, reason) {
      const same = flights.values().filter((flight) => flight.id === id);
      for (const flight of same) cancel(flight, `The client cancelled the request: ${reason}`);
      return same.length;
    },
    abortAll(reason) {
      for (const { controller } of flights.values()) controller.abort(new AppError('cancelled', reason));
    },
  };
}
