import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';

/** Somebody who opened a one-time link, in one browser. */
export interface OperatorSession {
  /** Part of the address of the page; opens nothing without the cookie. */
  readonly id: string;
  /** Must come with everything that acts. */
  readonly csrf: string;
  readonly expires_at: number;
}

export interface OperatorSessions {
  /** `secret` is the value of the cookie. */
  begin(): { readonly session: OperatorSession; readonly secret: string };
  find(id: string, secret: string | undefined): OperatorSession | undefined;
  end(id: string): void;
}

export const SESSION_MS = 12 * 3_600_000;

/** The oldest makes room. */
const MAX_SESSIONS = 50;

/** Sessions live in this process and end with it: nothing on disk opens the page. */
export function createOperatorSessions(clock: Pick<Clock, 'now'>): OperatorSessions {
  const sessions = new Map<string, { readonly session: OperatorSession; readonly hash: Buffer }>();
  return {
    begin() {
      const secret = random();
      const session = { id: random(), csrf: random(), expires_at: clock.now() + SESSION_MS };
      sessions.set(session.id, { session, hash: hashOf(secret) });
      const oldest = sessions.keys().next();
      if (sessions.size > MAX_SESSIONS && !oldest.done) sessions.delete(oldest.value);
      return { session, secret };
    },
    find(id, secret) {
      const found = sessions.get(id);
      if (found === undefined || secret === undefined) return undefined;
      if (clock.now() >= found.session.expires_at) {
        sessions.delete(id);
        return undefined;
      }
      return timingSafeEqual(hashOf(secret), found.hash) ? found.session : undefined;
    },
    end: (id) => void sessions.delete(id),
  };
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function sameText(one: string, other: string): boolean {
  return timingSafeEqual(hashOf(one), hashOf(other));
}
