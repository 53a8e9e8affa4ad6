import { createHash, randomBytes } from 'node:crypto';
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client';
import { createSealedStore } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { UpstreamOAuth } from '../types.ts';
import type { LoginKey } from './types.ts';

/** One way to an issuer and back. */
export interface Attempt {
  readonly key: LoginKey;
  /** As it was configured when the login began; whoever ends it may have read an older configuration. */
  readonly oauth: UpstreamOAuth;
  /** Who began it: nobody else ends it. */
  readonly person: string;
  /** Of the browser that it was begun in, where that is known. */
  readonly browser?: string;
  readonly verifier: string;
  readonly redirect_uri: string;
  readonly client: StoredOAuthClientInformation;
  readonly discovery: OAuthDiscoveryState;
  readonly scope?: string;
}

/**
 * Attempts that are under way, kept encrypted in the home: the answer may come to another process. Each is known by its `state` alone, which
 * is random, holds for 10 minutes, and is used up by the first who brings it.
 */
export interface Attempts {
  newState(): string;
  /** The oldest of more than 64 makes room. */
  add(state: string, attempt: Attempt): { readonly expires_at: number };
  /** Undefined: it was never there, has been used, or is too old. */
  take(state: string): Attempt | undefined;
}

const LIVES_MS = 10 * 60_000;
const MOST = 64;

export function createAttempts(home: string, clock: Pick<Clock, 'now'>): Attempts {
  const store = createSealedStore(home, 'login-attempts');
  /** Ordered by age, and by name alone. */
  const nameOf = (expires_at: number, state: string): string =>
    `${String(expires_at).padStart(15, '0')}-${createHash('sha256').update(state).digest('hex')}`;
  const isOver = (name: string): boolean => Number(name.slice(0, 15)) <= clock.now();

  return {
    newState: () => randomBytes(32).toString('base64url'),
    add(state, attempt) {
      const names = store.list();
      const live = names.filter((name) => !isOver(name));
      for (const name of [...names.filter(isOver), ...live.slice(0, Math.max(0, live.length - MOST + 1))]) store.remove(name);
      const expires_at = clock.now() + LIVES_MS;
      store.set(nameOf(expires_at, state), JSON.stringify(attempt));
      return { expires_at };
    },
    take(state) {
      const digest = createHash('sha256').update(state).digest('hex');
      const name = store.list().find((each) => each.endsWith(`-${digest}`));
      if (name === undefined) return undefined;
      const found = store.get(name);
      // Whoever removes it is the one who has it: of two at once, one finds nothing to remove.
      if (!store.remove(name) || found.state !== 'value' || isOver(name)) return undefined;
      return JSON.parse(found.value) as Attempt;
    },
  };
}
