import { issuerFetch } from './issuer-fetch.ts';
import type { Logins } from './logins.ts';
import type { LoginKey, LoginRecord, OAuthFetch } from './types.ts';

/** The login is gone here in any case; `revoked` says whether its issuer was told (RFC 7009) and took it. */
export async function logOut(
  key: LoginKey,
  logins: Logins,
  fetch: OAuthFetch,
): Promise<{ readonly was: boolean; readonly revoked: boolean }> {
  const { state } = logins.read(key);
  // What is taken away is what is revoked: it may have been renewed while somebody else had it.
  const gone = await logins.change(key, async (now, save) => {
    save(undefined);
    return now;
  });
  logins.announce();
  if (gone === undefined) return { was: state === 'corrupt', revoked: false };
  return { was: gone.tokens !== undefined, revoked: await revoke(gone, issuerFetch(fetch)).catch(() => false) };
}

async function revoke({ discovery, tokens, client }: LoginRecord, fetch: OAuthFetch): Promise<boolean> {
  // A member that the SDK passes on without naming it.
  const { revocation_endpoint: endpoint } = { ...discovery?.authorizationServerMetadata } as { readonly revocation_endpoint?: unknown };
  if (typeof endpoint !== 'string' || tokens === undefined || client === undefined) return false;
  const { client_id, client_secret } = client;
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ token: tokens.refresh_token ?? tokens.access_token });
  if (client_secret === undefined) body.set('client_id', client_id);
  else headers['authorization'] = `Basic ${btoa(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`)}`;
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response.ok;
}
