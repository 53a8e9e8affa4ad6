import { stripVTControlCharacters } from 'node:util';
import { AppError } from '../../../kernel/errors.ts';

/** What Playwright says, in words for whoever called: without its stack, its colours and its log. */
export function pageError(thrown: unknown, barred: readonly { readonly url: string; readonly why: string }[]): AppError {
  if (thrown instanceof AppError) return thrown;
  const [stopped] = barred;
  if (stopped !== undefined) {
    return new AppError('denied_by_policy', `The page led to ${stopped.url.slice(0, 500)}, and that was not followed: ${stopped.why}.`, {
      fix: 'Call navigate with that address, if that is where you want to go.',
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const first = stripVTControlCharacters(message.split('\n', 1)[0] ?? '').replace(/^[a-zA-Z]+\.[a-zA-Z]+: /, '');
  const refused = /net::ERR_(\w+)/.exec(first)?.[1];
  if (/Download is starting/.test(first))
    return new AppError('page_failed', 'This address is a file to download, and downloads are refused.');
  if (refused !== undefined)
    return new AppError('page_failed', `The page could not be opened (${refused.toLowerCase().replaceAll('_', ' ')}).`);
  if (/Timeout \d+ms exceeded/.test(first)) {
    return new AppError('page_failed', 'The element did not become ready (visible, enabled, holding still, not covered) within 5 s.', {
      fix: 'Take a snapshot or a screenshot to see what is in the way.',
    });
  }
  return new AppError('page_failed', `The page could not do that: ${first.slice(0, 300)}.`);
}
