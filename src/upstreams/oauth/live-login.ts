import { computeScopeUnion, OAuthError, refreshAuthorization } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { visible } from '../../kernel/visible.ts';
import { issuerFetch } from './issuer-fetch.ts';
import { clientOf, withTokens } from './log-in.ts';
import type { Logins } from './logins.ts';
import type { LoginRecord, LoginTarget, OAuthFetch } from './types.ts';

export interface LiveLoginParts {
  readonly target: LoginTarget;
  readonly logins: Logins;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch: OAuthFetch;
  /** What a person does about a login that is needed, as the end of a sentence. */
  readonly how: string;
}

/** The login of one server as its requests use it. */
export interface LiveLogin {
  /** Undefined: there is none. */
  token(): Promise<string | undefined>;
  /** A token was turned away: resolves when there is another one to try with, else AppError with `data.needs_auth`. */
  renew(used: string | undefined): Promise<void>;
  /** What was granted isn't enough; kept for the next login. */
  wants(scope: string | undefined): Promise<AppError>;
}

/** What another process has changed is seen after so long at the latest. */
const KEPT_MS = 5_000;
/** A token that ends sooner is replaced before it is used. */
const EARLY_MS = 30_000;
const MAX_SAID = 200;

export function createLiveLogin(parts: LiveLoginParts): LiveLogin {
  const { target, logins, clock, logger } = parts;
  const { key, oauth } = target;
  const { origin } = new URL(key.url);
  let held: { readonly record: LoginRecord; readonly until: number } | undefined;
  let renewing: Promise<void> | undefined;
  let said = false;

  function record(): LoginRecord {
    if (held !== undefined && clock.monotonic() < held.until) return held.record;
    const found = logins.read(key);
    if (found.state === 'corrupt' && !said) {
      said = true;
      logger.warn(`the login to "${key.name}" can't be read and is gone: ${found.why}`);
    }
    return keep(found.state === 'known' ? found.record : {});
  }

  function keep(next: LoginRecord): LoginRecord {
    held = { record: next, until: clock.monotonic() + KEPT_MS };
    return next;
  }

  const isOver = ({ expires_at }: LoginRecord): boolean => expires_at !== undefined && expires_at - EARLY_MS < clock.now();

  /** One at a time, here and in every other process: a refresh token that rotates is worth one use. */
  async function refresh(used: string | undefined): Promise<void> {
    await logins.change(key, async (now, save) => {
      const { tokens, discovery } = keep(now ?? {});
      // Somebody else was faster.
      if (tokens !== undefined && tokens.access_token !== used) return;
      const client = clientOf(oauth, now ?? {}, undefined);
      if (now === undefined || tokens?.refresh_token === undefined || discovery === undefined || client === undefined) throw wanted();
      const { refresh_token } = tokens;
      try {
        const { authorizationServerMetadata: metadata, authorizationServerUrl } = discovery;
        const fresh = await refreshAuthorization(authorizationServerUrl, {
          ...(metadata === undefined ? {} : { metadata }),
          ...(now.resource === undefined ? {} : { resource: new URL(now.resource) }),
          clientInformation: client,
          refreshToken: refresh_token,
          fetchFn: issuerFetch(parts.fetch),
        });
        const next = withTokens(now, { ...fresh, ...(tokens.issuer === undefined ? {} : { issuer: tokens.issuer }) }, tokens.scope, clock);
        if (isStill(refresh_token)) save(keep(next));
      } catch (thrown) {
        if (!(thrown instanceof OAuthError) || !FINAL.has(thrown.code)) throw unreachable(thrown);
        const { tokens: _, expires_at: __, client: ___, ...rest } = now;
        // An issuer that doesn't know the client wants another one; the rest of what is known stays true.
        const next = thrown.code === 'invalid_grant' ? { ...rest, ...(now.client === undefined ? {} : { client: now.client }) } : rest;
        if (isStill(refresh_token)) save(keep(next));
        throw wanted(`its issuer says ${visible(thrown.code)}: ${visible(thrown.message.slice(0, MAX_SAID))}`);
      } finally {
        held = undefined;
      }
    });
  }

  /** Whoever took the lock over from us, since we seemed dead, has written what holds. */
  function isStill(refresh_token: string): boolean {
    const found = logins.read(key);
    return found.state === 'known' && found.record.tokens?.refresh_token === refresh_token;
  }

  function wanted(why?: string): AppError {
    return new AppError('upstream_unavailable', `${origin} wants a login${why === undefined ? '' : ` (${why})`}: ${parts.how}.`, {
      data: { needs_auth: true },
    });
  }

  function unreachable(cause: unknown): AppError {
    const { message } = toAppError(cause);
    return new AppError('upstream_unavailable', `The login to ${origin} could not be renewed: ${visible(message.slice(0, MAX_SAID))}`, {
      cause,
    });
  }

  function renew(used: string | undefined): Promise<void> {
    renewing ??= refresh(used).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    async token() {
      const now = record();
      if (now.tokens === undefined) return undefined;
      if (!isOver(now) || now.tokens.refresh_token === undefined) return now.tokens.access_token;
      await renew(now.tokens.access_token);
      return record().tokens?.access_token;
    },
    async renew(used) {
      held = undefined;
      const { tokens } = record();
      if (tokens !== undefined && tokens.access_token !== used) return;
      if (tokens?.refresh_token === undefined) throw wanted();
      await renew(used);
    },
    async wants(scope) {
      await logins.change(key, async (now, save) => {
        const wanted_scope = computeScopeUnion(now?.wanted_scope, scope);
        if (now !== undefined && wanted_scope !== undefined && wanted_scope !== now.wanted_scope) save({ ...now, wanted_scope });
      });
      held = undefined;
      const what = scope === undefined ? 'more than was granted' : `more than was granted (${visible(scope.slice(0, MAX_SAID))})`;
      return new AppError('upstream_error', `${origin} wants ${what}: ${parts.how}.`, { data: { needs_auth: 'scope' } });
    },
  };
}

/** What no second try mends. */
const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);
