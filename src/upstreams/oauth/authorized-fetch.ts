import { extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import type { LiveLogin } from './live-login.ts';

/**
 * A fetch that shows the login's token to the server it belongs to. A request that is turned away was not read: it is made once more with
 * a renewed token. AppError with `data.needs_auth` where a person has to do something.
 */
export function authorizedFetch(fetch: FetchLike, origin: string, login: LiveLogin): FetchLike {
  return async (url, init) => {
    if (new URL(url).origin !== origin) return fetch(url, init);
    const used = await login.token();
    const first = await fetch(url, withToken(init, used));
    if (first.status === 403) return stepUp(first, login);
    if (first.status !== 401) return first;
    await first.body?.cancel();
    await login.renew(used);
    const second = await fetch(url, withToken(init, await login.token()));
    return second.status === 403 ? stepUp(second, login) : second;
  };
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit {
  if (token === undefined) return init ?? {};
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

async function stepUp(response: Response, login: LiveLogin): Promise<Response> {
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (error !== 'insufficient_scope') return response;
  await response.body?.cancel();
  throw await login.wants(scope);
}
