import type { FetchLike } from '@modelcontextprotocol/client';
import { boundedFetch } from '../wire/bounded-fetch.ts';

const MAX_BYTES = 1024 ** 2;
/** Shorter than others wait for a login that is being refreshed. */
const LONGEST_MS = 8_000;

/** Documents and tokens are small and come soon, or not at all. */
export function issuerFetch(fetch: FetchLike, signal?: AbortSignal): FetchLike {
  const bounded = boundedFetch(fetch, MAX_BYTES);
  return (url, init) => {
    const given = [init?.signal ?? undefined, signal].filter((each) => each !== undefined);
    return bounded(url, { ...init, signal: AbortSignal.any([AbortSignal.timeout(LONGEST_MS), ...given]) });
  };
}
