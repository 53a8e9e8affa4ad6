import type { FetchLike } from '@modelcontextprotocol/client';
import { AppError } from '../../kernel/errors.ts';
import { boundedFetch } from '../wire/bounded-fetch.ts';

const MAX_BYTES = 1024 ** 2;
/** Shorter than others wait for a login that is being refreshed. */
const LONGEST_MS = 8_000;

/**
 * Documents and tokens are small and come soon, or not at all. What is posted (a code, a secret, a refresh token) is for the address it is
 * posted to: a redirect of it is not followed.
 */
export function issuerFetch(fetch: FetchLike, signal?: AbortSignal): FetchLike {
  const bounded = boundedFetch(fetch, MAX_BYTES);
  return async (url, init) => {
    const given = [init?.signal ?? undefined, signal].filter((each) => each !== undefined);
    const posts = init?.method === 'POST';
    const response = await bounded(url, {
      ...init,
      ...(posts ? { redirect: 'manual' } : {}),
      signal: AbortSignal.any([AbortSignal.timeout(LONGEST_MS), ...given]),
    });
    const { status } = response;
    if (!posts || status < 300 || status > 399) return response;
    await response.body?.cancel();
    throw new AppError('upstream_error', `${new URL(url).origin} redirects what is posted to it (HTTP ${status}), which is not followed.`);
  };
}
