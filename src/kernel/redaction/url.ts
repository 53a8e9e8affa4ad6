import type { Finder } from './finder.ts';
import { isPlaceholder } from './judge.ts';

const AUTHORITY = /[^\s/?#"'`<>\\]{0,512}/y;
const REACH = 800;

/** The password (or a bare token) in the user part of an address, found at its `://`. User and host stay readable. */
export const findUrlPassword: Finder = (text, at, { final }) => {
  if (!text.startsWith('://', at)) return !final && '://'.startsWith(text.slice(at)) ? 'more' : undefined;
  const start = at + 3;
  AUTHORITY.lastIndex = start;
  const authority = AUTHORITY.exec(text)?.[0] ?? '';
  if (start + authority.length === text.length && !final && authority.length < 512) return 'more';
  let host = start + authority.lastIndexOf('@');
  // Judged already: the marker's own colon must not be taken for the one before a password.
  if (authority.includes('[redacted:')) return undefined;
  const colon = authority.indexOf(':');
  if (host < start) {
    // A password with an unescaped / ? or #: what follows the colon is no port, and an @ comes later in the word.
    const port = colon === -1 || /^\d{0,5}$/.test(authority.slice(colon + 1)) || authority.startsWith('[');
    if (port) return undefined;
    const rest = /^[^\s"'`<>@]{0,256}@/.exec(text.slice(start + authority.length, start + authority.length + 257));
    if (rest === null)
      return !final && text.length - start < REACH && !/\s/.test(text.slice(start + authority.length)) ? 'more' : undefined;
    host = start + authority.length + rest[0].length - 1;
  }
  const from = start + colon + 1;
  if (colon !== -1 && from <= host) {
    const password = text.slice(from, host);
    return password === '' || isPlaceholder(password) ? undefined : { from, to: host, kind: 'url_password' };
  }
  const user = text.slice(start, host);
  const token = user.length >= 16 && /[0-9]/.test(user) && /[A-Za-z]/.test(user) && !isPlaceholder(user);
  return token ? { from: start, to: host, kind: 'url_token' } : undefined;
};
