import { AppError } from '../../kernel/errors.ts';

/** Resolves when it is aborted, or is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

interface Bound {
  readonly acts: boolean;
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** The first of: the work is done, its time is over, the caller has gone. */
export async function bounded<T>(
  { acts, signal, ms }: Bound,
  work: (over: AbortSignal) => Promise<T>,
  drop: () => Promise<unknown>,
): Promise<T> {
  const over = new AbortController();
  const givenUp = Promise.withResolvers<AppError>();
  const timer = setTimeout(() => {
    const words = `The page did not answer within ${ms / 1000} s; it was closed, and nothing is tried again.`;
    givenUp.resolve(new AppError(acts ? 'outcome_unknown' : 'page_failed', words));
  }, ms);
  const onAbort = (): void => {
    const closed = acts ? ' The page was closed: nobody knows how far it came.' : '';
    givenUp.resolve(new AppError('cancelled', `The request was cancelled.${closed}`));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const working = work(over.signal);
    working.catch(() => undefined);
    const first = await Promise.race([working.then((value) => ({ value })), givenUp.promise]);
    if (!(first instanceof AppError)) return first.value;
    over.abort();
    if (acts || first.code !== 'cancelled') await drop();
    throw first;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
