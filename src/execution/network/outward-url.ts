import { type Host, readHost } from './host-name.ts';

export type OutwardUrl =
  | { readonly ok: true; readonly url: URL; readonly host: Exclude<Host, { kind: 'bad' }>; readonly port: number }
  | { readonly ok: false; readonly reason: string };

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const MAX_CHARS = 16 * 1024;

/**
 * A URL that may leave this machine, read strictly: what browsers repair (slashes that are missing or turned around, spaces, a second
 * port) and what hides the host (user information) is refused. To be asked again for each redirect.
 */
export function readOutwardUrl(text: string, base?: URL): OutwardUrl {
  const refuse = (reason: string): OutwardUrl => ({ ok: false, reason });
  if (text.length > MAX_CHARS) return refuse('the address is too long');
  if (/[\s\\\p{Cc}]/u.test(text)) return refuse('the address holds a space, a backslash or a control character');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined && base === undefined) return refuse('this is not an address');
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    return refuse(`the scheme "${scheme.slice(0, 40)}" is not http or https`);
  if (scheme !== undefined && !/^https?:\/\/[^/?#]/i.test(text)) return refuse('the address names no host');
  const authority = /^(?:https?:)?\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority?.includes('@')) return refuse('the address holds user information');
  const url = URL.parse(text, base?.href);
  if (url === null) return refuse('this is not an address');
  const port = PORTS[url.protocol];
  if (port === undefined) return refuse(`the scheme "${url.protocol.slice(0, 40)}" is not http or https`);
  if (url.username !== '' || url.password !== '') return refuse('the address holds user information');
  // As it was written, so that an escape in it is seen; a relative one has the host of its base.
  const written = authority?.replace(/:\d*$/, '') ?? url.hostname;
  const host = readHost(written);
  if (host.kind === 'bad') return refuse(host.reason);
  return { ok: true, url, host, port: url.port === '' ? port : Number(url.port) };
}
