import { AppError } from '../kernel/errors.ts';

/** A number of places and a bounded line in front of them. */
export interface CallPlaces {
  /** Resolves with how the place is given back. AppError: busy, cancelled. */
  take(signal: AbortSignal): Promise<() => void>;
}

const MAX_LINE = 256;

export function createCallPlaces(places: number): CallPlaces {
  let taken = 0;
  const line = new Set<() => void>();

  function release(): void {
    taken--;
    const [next] = line;
    if (next === undefined) return;
    line.delete(next);
    next();
  }

  const own = (): (() => void) => {
    taken++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      release();
    };
  };

  return {
    take(signal) {
      if (taken < places) return Promise.resolve(own());
      if (line.size >= MAX_LINE) {
        return Promise.reject(new AppError('busy', `${places} calls to it are running and ${MAX_LINE} wait already.`));
      }
      return new Promise((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(own());
        };
        const leave = (): void => {
          line.delete(go);
          reject(new AppError('cancelled', 'The request was cancelled while it waited for its turn; it was not sent.'));
        };
        line.add(go);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
