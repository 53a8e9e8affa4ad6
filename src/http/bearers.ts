import { hashOfToken } from '../identity/index.ts';
import type { AgentToken, Identity } from '../identity/types.ts';
import { AppError } from '../kernel/errors.ts';
import type { HttpCaller, ServerParts } from '../mcp/types.ts';
import type { McpEndpoint } from './server.ts';

export interface BearerParts {
  readonly tokens: Pick<Identity['tokens'], 'find' | 'used'>;
  /** What the bearer gets at an endpoint; undefined: nothing is there for it. Made once per token and endpoint. */
  serve(token: AgentToken, endpoint: McpEndpoint): ServerParts | undefined;
  /** It was known, and is revoked or has expired: what it left open belongs to no request. */
  ended?(token: AgentToken): void;
}

export type Bearer =
  | { readonly type: 'caller'; readonly caller: HttpCaller }
  | { readonly type: 'unauthorized'; readonly why: string }
  | { readonly type: 'not_found' };

export interface Bearers {
  authenticate(authorization: string | undefined, endpoint: McpEndpoint): Promise<Bearer>;
  close(): void;
}

/** A token is looked up again after this; so long it may outlive its revocation. */
const TRUST_MS = 500;

/** Tokens known at a time, by hash. The one known for longest makes room, and is looked up again when it comes. */
const MAX_KNOWN = 1_024;

interface Known {
  readonly hash: Uint8Array;
  readonly token: AgentToken;
  readonly revoked: AbortController;
  readonly callers: Map<string, HttpCaller>;
  checked_at: number;
}

/**
 * Who makes a request of `/mcp`, by its bearer token. Known tokens are looked up again every half second, used or not, so that
 * revoking one ends what runs and streams for it too.
 */
export function createBearers({ tokens, serve, ended }: BearerParts): Bearers {
  const known = new Map<string, Known>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (hash: Uint8Array): Promise<Known | undefined> => {
    const now = performance.now();
    const key = Buffer.from(hash).toString('hex');
    const before = known.get(key);
    if (before !== undefined && now - before.checked_at < TRUST_MS) return before;
    const token = await tokens.find(hash);
    const present = known.get(key);
    if (token === undefined) {
      if (present !== undefined) end(key, present);
      return undefined;
    }
    const found = present ?? { hash, token, revoked: new AbortController(), callers: new Map(), checked_at: now };
    found.checked_at = now;
    known.set(key, found);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value ?? '');
    timer ??= setInterval(() => void lookAtAll(), TRUST_MS).unref();
    return found;
  };

  const end = (key: string, { token, revoked }: Known): void => {
    known.delete(key);
    revoked.abort(new AppError('cancelled', `The token "${token.name}" was revoked or has expired.`));
    ended?.(token);
  };

  const lookAtAll = async (): Promise<void> => {
    // A database that can't be read for a moment revokes nothing by itself; every new request meets the same and is refused.
    for (const { hash } of [...known.values()]) await look(hash).catch(() => {});
    if (known.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    async authenticate(authorization, endpoint) {
      if (authorization === undefined) return { type: 'unauthorized', why: 'a bearer token is needed' };
      const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const hash = secret === undefined ? undefined : hashOfToken(secret);
      const found = hash === undefined ? undefined : await look(hash);
      if (found === undefined) return { type: 'unauthorized', why: 'the token is unknown, expired or revoked' };
      tokens.used(found.token);
      const key = endpoint.workspace ?? '';
      const ready = found.callers.get(key);
      if (ready !== undefined) return { type: 'caller', caller: ready };
      const parts = serve(found.token, endpoint);
      if (parts === undefined) return { type: 'not_found' };
      const caller = { agent: found.token.agent, endpoint: key, parts, signal: found.revoked.signal };
      found.callers.set(key, caller);
      return { type: 'caller', caller };
    },
    close() {
      clearInterval(timer);
      known.clear();
    },
  };
}
