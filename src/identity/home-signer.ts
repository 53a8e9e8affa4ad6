import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { makeKey, readKey } from './key-file.ts';

const KEY = {
  name: 'signing.key',
  what: 'signing key',
  // What is signed lives for minutes: a new key costs nobody much.
  fix: 'Remove the file: a new one is made, and questions and sessions that are open now begin again.',
} as const;

/** What this Writ home gives out and must get back unchanged; any process of the same home knows it again. */
export interface HomeSigner {
  /** HMAC-SHA256 in base64url. The first call reads the key, or makes it; AppError store_unavailable where it can't be used. */
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/** Signs with `signing.key` of the home. Whoever uses it tells its texts apart from those of others. */
export function createHomeSigner(home: string): HomeSigner {
  let key: KeyObject | undefined;

  function mac(text: string): Buffer {
    key ??= readKey(home, KEY) ?? makeKey(home, KEY);
    return createHmac('sha256', key).update(text).digest();
  }

  return {
    sign: (text) => mac(text).toString('base64url'),
    verify(text, signature) {
      const given = Buffer.from(signature, 'base64url');
      const right = mac(text);
      // Decoding is lenient: only the one spelling of these bytes counts.
      return given.length === right.length && timingSafeEqual(given, right) && given.toString('base64url') === signature;
    },
  };
}
