import type { FetchLike, OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { UpstreamOAuth, UpstreamSettings } from '../types.ts';

/** Folder of the home that logins stand in. */
export const LOGINS = 'logins';

/** In there: written whenever a person has logged in or out, and not when a token was renewed. */
export const LOGIN_NEWS = `${LOGINS}/.news`;

/** What a login belongs to. The same name with another address, or in another project, is another one. */
export interface LoginKey {
  readonly name: string;
  /** Real path of the project whose file brought the server in; null: the operator's. */
  readonly project: string | null;
  /** Of the server, without query and fragment. */
  readonly url: string;
}

/** What is known of a login. Client and tokens are stamped with the issuer that gave them, and are of no use with another one. */
export interface LoginRecord {
  readonly client?: StoredOAuthClientInformation;
  /** What the client was registered with. */
  readonly redirect_uri?: string;
  readonly tokens?: StoredOAuthTokens;
  /** Of the access token, epoch ms; absent: the issuer didn't say. */
  readonly expires_at?: number;
  readonly discovery?: OAuthDiscoveryState;
  /** RFC 8707: what the tokens are for. */
  readonly resource?: string;
  /** When a person logged in, epoch ms; renewing changes nothing about it. */
  readonly since?: number;
  /** More than was granted: the server has asked for it since. */
  readonly wanted_scope?: string;
}

/** A server, and how a person logs in to it; nothing in it is to be filled in any more. */
export interface LoginTarget {
  readonly key: LoginKey;
  readonly oauth: UpstreamOAuth;
}

/** Requests to the server and to its issuer; nothing of what is sent to the one goes to the other. */
export type OAuthFetch = FetchLike;

export function loginKeyOf({ name, project }: Pick<UpstreamSettings, 'name' | 'project'>, address: string): LoginKey {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return { name, project: project ?? null, url: url.href };
}
