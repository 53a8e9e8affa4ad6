import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

/** A real authorization server (oidc-provider), set up as those of MCP servers are; whoever comes is logged in and agrees at once. */
export interface Issuer {
  readonly url: string;
  /** Requests to the token endpoint, by grant. */
  readonly grants: string[];
  /** Refresh tokens that it took as used before. */
  readonly replays: () => number;
  close(): Promise<void>;
}

interface Context {
  path: string;
  method: string;
  query: Record<string, unknown>;
  respond: boolean;
  req: unknown;
  res: unknown;
  oidc?: { params?: Record<string, string> };
}

/** No types come with it. */
interface Provider {
  use(step: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
  on(event: string, listener: (ctx: Context, error?: Error) => void): void;
  callback(): (request: unknown, response: unknown) => void;
  interactionDetails(request: unknown, response: unknown): Promise<Interaction>;
  interactionFinished(request: unknown, response: unknown, result: object, options: object): Promise<void>;
  readonly Grant: new (
    of: object,
  ) => { addOIDCScope(scope: string): void; addResourceScope(resource: string, scope: string): void; save(): Promise<string> };
}

interface Interaction {
  readonly params: { readonly client_id: string };
  readonly prompt: {
    readonly name: string;
    readonly details: { readonly missingOIDCScope?: string[]; readonly missingResourceScopes?: Record<string, string[]> };
  };
  readonly session?: { readonly accountId: string };
}

const SCOPES = ['mcp:tools', 'mcp:read', 'mcp:write'];

export async function startIssuer(): Promise<Issuer> {
  const require = createRequire(new URL('../peers/package.json', import.meta.url));
  const { default: make } = (await import(pathToFileURL(require.resolve('oidc-provider')).href)) as {
    default: new (issuer: string, configuration: object) => Provider;
  };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const grants: string[] = [];
  let replays = 0;
  const provider = new make(url, {
    clients: [
      {
        client_id: 'registered',
        client_secret: 'a-secret',
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: ['http://127.0.0.1/callback'],
        application_type: 'native',
      },
    ],
    scopes: ['openid', 'offline_access', ...SCOPES],
    pkce: { required: () => true },
    clientDefaults: { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    clientBasedCORS: () => true,
    cookies: { keys: ['of a test'] },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: unknown, resource: string) => ({
          scope: SCOPES.join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/auto/${uid}` },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ttl: { AccessToken: 300, RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 300, AuthorizationCode: 60, IdToken: 300 },
  });
  provider.on('grant.error', (_ctx, error) => {
    if (error?.message === 'invalid_grant') replays += 1;
  });
  provider.on('grant.success', (ctx) => void grants.push(ctx.oidc?.params?.['grant_type'] ?? ''));
  provider.use(async (ctx, next) => {
    // The same document, where RFC 8414 has it.
    if (ctx.path === '/.well-known/oauth-authorization-server') ctx.path = '/.well-known/openid-configuration';
    if (ctx.path === '/auth' && ctx.method === 'GET' && !ctx.query['scope']) ctx.query = { ...ctx.query, scope: 'mcp:tools' };
    if (!ctx.path.startsWith('/auto/')) return next();
    const { params, prompt, session } = await provider.interactionDetails(ctx.req, ctx.res);
    ctx.respond = false;
    if (prompt.name === 'login' || session === undefined) {
      return provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: 'ann' } }, { mergeWithLastSubmission: false });
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      grant.addResourceScope(resource, scopes.join(' '));
    }
    return provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
  });
  const handle = provider.callback();
  server.on('request', handle);
  return {
    url,
    grants,
    replays: () => replays,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser without a person: follows redirects with cookies until it is sent back to where `to` begins, which isn't the issuer's. */
export async function browse(address: string, to: string, issuer?: string): Promise<URL> {
  const jar = new Map<string, string>();
  let next = new URL(address);
  for (let hop = 0; hop < 12; hop += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const where = response.headers.get('location');
    if (where === null) throw new Error(`${next.href} sends nowhere: ${response.status} ${(await response.text()).slice(0, 300)}`);
    await response.body?.cancel();
    next = new URL(where, next);
    if (next.href.startsWith(to) && next.origin !== issuer) return next;
  }
  throw new Error('sent round and round');
}
