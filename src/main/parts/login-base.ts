import { CLIENT_METADATA, LOGIN_CALLBACK } from '../../http/index.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { announced } from './server-address.ts';

type Server = Config['server'];

/** Where a browser that is anywhere reaches `writ up`, as it was configured to: for logins first, then in general. */
function configuredBase({ public_url }: Pick<Server, 'public_url'>, { host_env }: Pick<ProcessFacts, 'host_env'>): string | undefined {
  const base = host_env['WRIT_OAUTH_REDIRECT_BASE_URL'] || public_url;
  if (base === null || base === undefined || !/^https?:$/.test(URL.parse(base)?.protocol ?? '')) return undefined;
  return base.replace(/\/+$/, '');
}

/** The same for a `writ up` that listens on a port of this machine and was not told where it is. */
export function loginBaseHere(server: Server, facts: Pick<ProcessFacts, 'host_env'>, port: number): string {
  return configuredBase(server, facts) ?? `http://localhost:${port}`;
}

/** Where browsers come back to from a login. Undefined: no `writ up` answers, or none that was told where it is; this process waits itself. */
export async function loginBase(server: Server, facts: ProcessFacts, home: string): Promise<string | undefined> {
  const base = configuredBase(server, facts);
  return base !== undefined && (await announced(home)) !== undefined ? base : undefined;
}

/** Where a browser comes back to below a base; issuers that can read who asks, which takes https, are told where that stands. */
export function callbackAt(base: string): { readonly redirect_uri: string; readonly client_metadata_url?: string } {
  return { redirect_uri: base + LOGIN_CALLBACK, ...(base.startsWith('https:') ? { client_metadata_url: base + CLIENT_METADATA } : {}) };
}

/** Issuers read it where they take an address for a client's name; they take only https. */
export function loginClient(server: Server, facts: ProcessFacts): Readonly<Record<string, unknown>> | undefined {
  const base = configuredBase(server, facts);
  if (base?.startsWith('https:') !== true) return undefined;
  return {
    client_id: base + CLIENT_METADATA,
    client_name: 'Writ',
    client_uri: base,
    redirect_uris: [base + LOGIN_CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** Names under which a browser comes back that `server.public_url` doesn't say. */
export function callbackHosts({ host_env }: Pick<ProcessFacts, 'host_env'>): readonly string[] {
  const host = URL.parse(host_env['WRIT_OAUTH_REDIRECT_BASE_URL'] ?? '')?.hostname;
  return host === undefined ? [] : [host.toLowerCase()];
}
