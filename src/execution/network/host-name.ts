import { isIP } from 'node:net';
import { canonicalAddress } from './address-ranges.ts';

/** What the host part of an address means to whoever would dial it. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  | {
      readonly kind: 'name';
      /** Lower case ASCII (punycode), no trailing dot. */
      readonly name: string;
      /** Names that never belong to the public network; refused unless opened. */
      readonly special?: string;
    }
  | { readonly kind: 'bad'; readonly reason: string };

const MAX_CHARS = 253;
/** Names that are answered inside a network, by multicast or by nobody (RFC 6761, 6762, 8375, 9476, and what clouds use). */
const SPECIAL = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa', 'onion', 'alt'];

/**
 * Reads a host as dialling programs do, in whatever spelling: `0x7f.1`, `2130706433`, `①②⑦.1` and `127.0.0.1.` are one address. What
 * two programs could read differently (a zone, an escape, user information) is refused and not repaired.
 */
export function readHost(text: string): Host {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare === '') return { kind: 'bad', reason: 'no host is named' };
  if (bare.includes('%')) return { kind: 'bad', reason: 'a host with an escape or a zone is ambiguous' };
  if (bare.length > MAX_CHARS * 4 || /[\s@/\\?#<>^|[\]\p{Cc}]/u.test(bare))
    return { kind: 'bad', reason: 'this is not the name of a host' };
  if (bare.includes(':')) {
    const address = canonicalAddress(bare);
    return address === undefined ? { kind: 'bad', reason: 'this is not the name of a host' } : { kind: 'address', address };
  }
  const url = URL.parse(`http://${bare}/`);
  const name = url?.hostname.replace(/\.$/, '') ?? '';
  if (name === '' || name.length > MAX_CHARS) return { kind: 'bad', reason: 'this is not the name of a host' };
  if (isIP(name) === 4) return { kind: 'address', address: name };
  if (!/^(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name)) return { kind: 'bad', reason: 'this is not the name of a host' };
  const special = specialOf(name);
  return special === undefined ? { kind: 'name', name } : { kind: 'name', name, special };
}

function specialOf(name: string): string | undefined {
  const suffix = SPECIAL.find((one) => name === one || name.endsWith(`.${one}`));
  if (suffix !== undefined) return `names below "${suffix}" are not on the public network`;
  return name.includes('.') ? undefined : 'a name without a dot is not on the public network';
}
