import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type Browsing, createBrowsers } from '../../tools/index.ts';
import { BWRAP_CANDIDATES } from './execution.ts';

/** The web pages of this process. Nothing is started before the first one is opened. */
export function createLocalBrowsing(parts: {
  readonly home: string;
  readonly reader: URL;
  readonly clock: Clock;
  readonly logger: Logger;
}): Browsing {
  return createBrowsers({ ...parts, bwrap_candidates: BWRAP_CANDIDATES });
}
