import { AppError } from '../../kernel/errors.ts';

/** Work that is done one after the other, in the order it came; with more than `most` under way or waiting, AppError busy. */
export function createTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (work) => {
    if (waiting >= most) return Promise.reject(new AppError('busy', `${most} changes wait already.`));
    waiting++;
    const mine = last.then(work).finally(() => {
      waiting--;
    });
    last = mine.catch(() => {});
    return mine;
  };
}
