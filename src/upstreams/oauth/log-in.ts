import { auth, computeScopeUnion, extractWWWAuthenticateParams, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import type { UpstreamOAuth } from '../types.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { type Flow, flowProvider } from './flow-provider.ts';
import { issuerFetch } from './issuer-fetch.ts';
import type { Logins } from './logins.ts';
import type { LoginRecord, LoginTarget, OAuthFetch } from './types.ts';

export interface LogInParts {
  readonly logins: Logins;
  readonly attempts: Attempts;
  readonly clock: Pick<Clock, 'now'>;
}

export interface BeginOptions {
  readonly redirect_uri: string;
  readonly client_metadata_url?: string;
  readonly person: string;
  readonly browser?: string;
  readonly fetch: OAuthFetch;
  readonly signal: AbortSignal;
}

export interface Begun {
  /** A person opens it in a browser. */
  readonly authorization_url: string;
  readonly state: string;
  readonly expires_at: number;
}

const MAX_SAID = 300;
/** RFC 6749, A.12: it goes into a header as it is. */
const TOKEN = /^[\x20-\x7e]+$/;
/** Of 64 KiB: what is kept then has tokens as well. */
const MAX_ATTEMPT = 24 * 1024;
/** All that is known of a login has 64 KiB. */
const MAX_TOKEN = 16 * 1024;

/** Finds out who issues tokens for a server, makes ourselves known there, and gives the address where a person agrees. */
export async function beginLogin(target: LoginTarget, options: BeginOptions, { logins, attempts }: LogInParts): Promise<Begun> {
  const { key, oauth } = target;
  const fetch = issuerFetch(options.fetch, options.signal);
  const known = logins.read(key);
  const before: LoginRecord = known.state === 'known' ? known.record : {};
  const state = attempts.newState();
  const flow: Flow = {
    redirect_uri: options.redirect_uri,
    oauth,
    state,
    ...(options.client_metadata_url === undefined ? {} : { client_metadata_url: options.client_metadata_url }),
  };
  return inWords(key.url, async () => {
    const challenge = await challengeOf(key.url, fetch);
    const scope = computeScopeUnion(
      oauth.scopes?.join(' '),
      // What was granted before stays granted.
      before.wanted_scope === undefined ? undefined : computeScopeUnion(before.tokens?.scope, before.wanted_scope),
      challenge.scope,
    );
    const client = clientOf(oauth, before, options.redirect_uri);
    // One that was registered for less is told no; a new one is registered for all of it.
    if (client !== undefined && (oauth.client_id !== undefined || !isStrictScopeSuperset(scope, registeredScope(client) ?? scope)))
      flow.client = client;
    await auth(flowProvider(flow), {
      serverUrl: key.url,
      fetchFn: fetch,
      ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    });
    const { authorization_url, verifier, discovery, client: used } = flow;
    if (authorization_url === undefined || verifier === undefined || discovery === undefined || used === undefined) {
      throw new AppError('upstream_error', `${new URL(key.url).origin} gave no address to log in at.`);
    }
    // A person's machine opens it: with another scheme that is a file, or a program.
    if (authorization_url.protocol !== 'https:' && authorization_url.protocol !== 'http:') {
      const scheme = visible(authorization_url.protocol.slice(0, 40));
      throw new AppError('upstream_error', `${new URL(key.url).origin} sends people to an address that is no web page (${scheme}).`);
    }
    if (oauth.keys_file !== undefined) {
      // Google gives a refresh token only to whoever asks like this.
      authorization_url.searchParams.set('access_type', 'offline');
      authorization_url.searchParams.set('prompt', 'consent');
    }
    const { browser, person, redirect_uri } = options;
    const attempt: Attempt = {
      key,
      oauth,
      person,
      ...(browser === undefined ? {} : { browser }),
      verifier,
      redirect_uri,
      client: used,
      discovery,
    };
    if (JSON.stringify(attempt).length > MAX_ATTEMPT) {
      throw new AppError('upstream_error', 'What its issuer says of itself is too long to be kept.');
    }
    return {
      authorization_url: authorization_url.href,
      state,
      ...attempts.add(state, scope === undefined ? attempt : { ...attempt, scope }),
    };
  });
}

export interface FinishOptions {
  readonly person: string;
  readonly browser?: string;
  fetch(target: LoginTarget): OAuthFetch;
  /** Where only one server's answer is expected. */
  readonly name?: string;
  readonly signal: AbortSignal;
}

/**
 * Takes what an issuer sent the browser back with, and keeps the tokens it is worth. A `state` that is not known, was used, is somebody
 * else's or too old is worth nothing, and whatever else the address says is not looked at before.
 */
export async function finishLogin(answer: URLSearchParams, options: FinishOptions, parts: LogInParts): Promise<{ readonly name: string }> {
  const state = answer.get('state');
  const attempt = state === null ? undefined : parts.attempts.take(state);
  if (
    attempt === undefined ||
    attempt.person !== options.person ||
    attempt.browser !== options.browser ||
    (options.name !== undefined && attempt.key.name !== options.name)
  ) {
    throw new AppError(
      'invalid_arguments',
      'That is no answer to a login that was begun here within the last 10 minutes, or it was used.',
      {
        fix: 'Begin again: `writ upstream login NAME`.',
      },
    );
  }
  const { key, oauth } = attempt;
  const flow: Flow = {
    redirect_uri: attempt.redirect_uri,
    oauth,
    verifier: attempt.verifier,
    client: attempt.client,
    discovery: attempt.discovery,
  };
  return inWords(key.url, async () => {
    const metadata = attempt.discovery.authorizationServerMetadata;
    const code = answer.get('code');
    const iss = answer.get('iss') ?? undefined;
    if (code === null) {
      // What is said by somebody who doesn't prove who they are isn't repeated.
      const proven = iss === undefined ? metadata?.authorization_response_iss_parameter_supported !== true : iss === metadata?.issuer;
      const why = proven ? (answer.get('error_description') ?? answer.get('error')) : null;
      throw new AppError('upstream_error', `The login was not granted${why === null ? '' : `: ${visible(why.slice(0, MAX_SAID))}`}.`);
    }
    await auth(flowProvider(flow), {
      serverUrl: key.url,
      authorizationCode: code,
      fetchFn: issuerFetch(options.fetch({ key, oauth }), options.signal),
      ...(iss === undefined ? {} : { iss }),
      ...(attempt.scope === undefined ? {} : { scope: attempt.scope }),
    });
    const { tokens } = flow;
    if (tokens === undefined) throw new AppError('upstream_error', 'The issuer gave no tokens.');
    await parts.logins.change(key, async (_now, save) => {
      save({
        ...withTokens(flow.resource === undefined ? {} : { resource: flow.resource }, tokens, attempt.scope, parts.clock),
        client: flow.client ?? attempt.client,
        redirect_uri: attempt.redirect_uri,
        discovery: attempt.discovery,
        since: parts.clock.now(),
      });
    });
    parts.logins.announce();
    return { name: key.name };
  });
}

/** The client that is configured, or was registered before. It stays with the issuer that it was used with. */
export function clientOf(
  { client_id, client_secret, issuer: pinned }: UpstreamOAuth,
  before: LoginRecord,
  redirect_uri: string | undefined,
): LoginRecord['client'] {
  if (client_id === undefined) {
    // An issuer takes no other address than those it was told.
    return redirect_uri === undefined || before.redirect_uri === redirect_uri ? before.client : undefined;
  }
  const issuer = before.client?.client_id === client_id ? before.client.issuer : pinned;
  return { client_id, ...(client_secret === undefined ? {} : { client_secret }), ...(issuer === undefined ? {} : { issuer }) };
}

function registeredScope(client: object): string | undefined {
  return 'scope' in client && typeof client.scope === 'string' ? client.scope : undefined;
}

/** RFC 6749, 5.1: a scope that isn't said is the one that was asked for. */
export function withTokens(
  record: LoginRecord,
  tokens: NonNullable<LoginRecord['tokens']>,
  scope: string | undefined,
  clock: Pick<Clock, 'now'>,
): LoginRecord {
  const { access_token, refresh_token = '' } = tokens;
  if (!TOKEN.test(access_token) || access_token.length > MAX_TOKEN || refresh_token.length > MAX_TOKEN) {
    throw new AppError('upstream_error', 'The issuer gave a token that is none: empty, too long, or with characters that no token has.');
  }
  const { expires_at: _, ...rest } = record;
  const granted = tokens.scope ?? scope;
  return {
    ...rest,
    tokens: { ...tokens, ...(granted === undefined ? {} : { scope: granted }) },
    ...(tokens.expires_in === undefined ? {} : { expires_at: clock.now() + tokens.expires_in * 1000 }),
  };
}

/** What the server says when it is asked without a token: where its issuers are named, and what it wants. */
async function challengeOf(url: string, fetch: OAuthFetch): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.body?.cancel();
  return response.status === 401 || response.status === 403 ? extractWWWAuthenticateParams(response) : {};
}

async function inWords<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    const { message } = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : (thrown as Error);
    throw new AppError('upstream_error', `The login to ${new URL(url).origin} failed: ${visible(String(message).slice(0, MAX_SAID))}`, {
      cause: thrown,
    });
  }
}
