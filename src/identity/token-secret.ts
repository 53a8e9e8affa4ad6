import { hash, randomBytes } from 'node:crypto';

/** What an agent shows: recognisable by scanners of leaked secrets, 256 bits that nobody guesses. */
const PREFIX = 'writ_at_';
const SHAPE = /^writ_at_[A-Za-z0-9_-]{43}$/;

export function newTokenSecret(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

/**
 * What is kept of it, and what it is looked up by: the look-up compares hashes, so its time says nothing about how near a guess was.
 * Undefined for what has not the shape of one, which is never looked up.
 */
export function hashOfToken(secret: string): Uint8Array | undefined {
  return SHAPE.test(secret) ? hash('sha256', secret, 'buffer') : undefined;
}
