import { type BrowserConfig, startBrowser } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type Browsing, createBrowsing, MAX_PAGES } from './browsing.ts';
import type { Engine } from './types.ts';

export type { Browsing } from './browsing.ts';
export { type BrowserParts, createBrowserTool } from './tool.ts';

export interface BrowsersParts {
  readonly home: string;
  readonly bwrap_candidates: readonly string[];
  readonly chromium_candidates?: readonly string[];
  /** The program of the thread that reads a fetched page. */
  readonly reader: URL;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The body of that program. Only the thread pays for loading what only the thread does. */
export async function readPageHere(): Promise<void> {
  (await import('./fetched/readable.ts')).runPageReader();
}

/** After a start that failed: until then it isn't tried again. */
const TRY_AGAIN_MS = 300_000;

/** The pages of one process, shown by Chromium where it can be started, else by fetching and parsing. */
export function createBrowsers(
  parts: BrowsersParts,
  more: Pick<Parameters<typeof createBrowsing>[0], 'makeGuard' | 'times'> = {},
): Browsing {
  const config: BrowserConfig = {
    home: parts.home,
    bwrap_candidates: parts.bwrap_candidates,
    ...(parts.chromium_candidates === undefined ? {} : { chromium_candidates: parts.chromium_candidates }),
    slots: MAX_PAGES,
  };
  let failed: { readonly at: number; readonly why: string } | undefined;

  const startEngine = async (): Promise<Engine> => {
    const { createFetchEngine } = await import('./fetched/engine.ts');
    if (failed !== undefined && parts.clock.monotonic() - failed.at < TRY_AGAIN_MS) return createFetchEngine(failed.why, parts.reader);
    try {
      const { createChromiumEngine } = await import('./chromium/engine.ts');
      return await createChromiumEngine(() => startBrowser(config, parts));
    } catch (thrown) {
      const { message, fix } = toAppError(thrown);
      failed = { at: parts.clock.monotonic(), why: fix === undefined ? message : `${message} ${fix}` };
      parts.logger.warn('no browser can be started; pages are fetched and parsed', { reason: message });
      return createFetchEngine(failed.why, parts.reader);
    }
  };
  return createBrowsing({ startEngine, logger: parts.logger, ...more });
}
