import { AppError } from '../../kernel/errors.ts';

/** Nobody closed it, and it is no more. */
export function pageGone(why: string): AppError {
  return new AppError('page_failed', `The page is gone: ${why}.`, { fix: 'Open it again with navigate.' });
}
