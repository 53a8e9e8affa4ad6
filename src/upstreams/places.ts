import { AppError } from '../kernel/errors.ts';

/** A number of places and a bounded line in front of them. */
export interface Places {
  /** Resolves with how the place is given back. AppError: busy, cancelled. */
  take(signal: AbortSignal): Promise<() => void>;
}

const MAX_LINE = 256;

/** `full`: what is said to whoever finds every place taken and the line full. */
export function createPlaces(places: number, full = 'calls to it are running'): Places {
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
        return Promise.reject(new AppError('busy', `${places} ${full} and ${MAX_LINE} wait already.`));
      }
      return new Promise((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(own());
        };
        const leave = (): void => {
          line.delete(go);
          reject(new AppError('cancelled', 'It was cancelled while it waited for its turn; nothing was sent.'));
        };
        line.add(go);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
