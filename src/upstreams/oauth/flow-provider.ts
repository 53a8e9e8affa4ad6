import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { AppError } from '../../kernel/errors.ts';
import type { UpstreamOAuth } from '../types.ts';

/** What one pass of the SDK's flow is given, and leaves behind. */
export interface Flow {
  readonly redirect_uri: string;
  readonly oauth: UpstreamOAuth;
  /** Where `writ up` is reached by everybody: what describes this client. */
  readonly client_metadata_url?: string;
  state?: string;
  client?: StoredOAuthClientInformation;
  discovery?: OAuthDiscoveryState;
  verifier?: string;
  tokens?: StoredOAuthTokens;
  resource?: string;
  authorization_url?: URL;
}

/** The SDK's view of one attempt: nothing in it outlives the attempt but what its caller keeps. */
export function flowProvider(flow: Flow): OAuthClientProvider {
  return {
    redirectUrl: flow.redirect_uri,
    clientMetadata: clientMetadata(flow.redirect_uri, flow.oauth),
    ...(flow.client_metadata_url === undefined ? {} : { clientMetadataUrl: flow.client_metadata_url }),
    state: () => flow.state ?? '',
    // One that is configured belongs to the issuer it is first used with.
    clientInformation: (of) =>
      flow.client === undefined ? undefined : { ...(of?.issuer === undefined ? {} : { issuer: of.issuer }), ...flow.client },
    saveClientInformation(client) {
      flow.client = client;
    },
    // Whoever logs in wants new ones.
    tokens: () => undefined,
    saveTokens(tokens) {
      flow.tokens = tokens;
    },
    redirectToAuthorization(url) {
      flow.authorization_url = url;
    },
    saveCodeVerifier(verifier) {
      flow.verifier = verifier;
    },
    codeVerifier: () => flow.verifier ?? '',
    discoveryState: () => flow.discovery,
    saveDiscoveryState(discovery) {
      mustBeIssuer(flow.oauth.issuer, discovery);
      flow.discovery = discovery;
    },
    saveResourceUrl(url) {
      flow.resource = url;
    },
  };
}

export function clientMetadata(redirect_uri: string, oauth: UpstreamOAuth): OAuthClientMetadata {
  return {
    client_name: 'Writ',
    redirect_uris: [redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: oauth.client_secret === undefined ? 'none' : 'client_secret_basic',
    ...(oauth.scopes === undefined ? {} : { scope: oauth.scopes.join(' ') }),
  };
}

/** An operator who names the issuer gets that one, whatever the server says. */
function mustBeIssuer(wanted: string | undefined, { authorizationServerUrl, authorizationServerMetadata }: OAuthDiscoveryState): void {
  const found = authorizationServerMetadata?.issuer ?? authorizationServerUrl;
  const same = (one: string, other: string): boolean => one.replace(/\/$/, '') === other.replace(/\/$/, '');
  if (wanted === undefined || same(wanted, found)) return;
  throw new AppError('upstream_error', `It sends people to ${found.slice(0, 300)}, and its entry names ${wanted} as "oauth.issuer".`, {
    fix: 'Correct the entry if that is right; else do not log in.',
  });
}
