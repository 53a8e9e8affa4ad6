import { BlockList, isIP } from 'node:net';

interface Range {
  readonly net: string;
  readonly bits: number;
  readonly what: string;
}

/** What isn't the public network: the special-purpose registries of IANA, and addresses that clouds have put metadata at. First match names it. */
const CLOSED_V4: readonly Range[] = [
  { net: '169.254.169.254', bits: 32, what: 'a cloud metadata address' },
  { net: '100.100.100.200', bits: 32, what: 'a cloud metadata address' },
  // A public number that answers inside one cloud only.
  { net: '168.63.129.16', bits: 32, what: 'a cloud metadata address' },
  { net: '0.0.0.0', bits: 8, what: 'this host' },
  { net: '10.0.0.0', bits: 8, what: 'a private address' },
  { net: '100.64.0.0', bits: 10, what: 'a shared (carrier) address' },
  { net: '127.0.0.0', bits: 8, what: 'a loopback address' },
  { net: '169.254.0.0', bits: 16, what: 'a link-local address' },
  { net: '172.16.0.0', bits: 12, what: 'a private address' },
  { net: '192.0.0.0', bits: 24, what: 'a reserved address' },
  { net: '192.0.2.0', bits: 24, what: 'a documentation address' },
  { net: '192.88.99.0', bits: 24, what: 'a reserved address' },
  { net: '192.168.0.0', bits: 16, what: 'a private address' },
  { net: '198.18.0.0', bits: 15, what: 'a benchmark address' },
  { net: '198.51.100.0', bits: 24, what: 'a documentation address' },
  { net: '203.0.113.0', bits: 24, what: 'a documentation address' },
  { net: '224.0.0.0', bits: 4, what: 'a multicast address' },
  { net: '240.0.0.0', bits: 4, what: 'a reserved address' },
];

/** Inside what is public at all (2000::/3). Tunnels carry an IPv4 address that nobody would look at, so they are closed whole. */
const CLOSED_V6: readonly Range[] = [
  { net: 'fd00:ec2::254', bits: 128, what: 'a cloud metadata address' },
  { net: '::', bits: 128, what: 'this host' },
  { net: '::1', bits: 128, what: 'a loopback address' },
  { net: 'fe80::', bits: 10, what: 'a link-local address' },
  { net: 'fc00::', bits: 7, what: 'a private address' },
  { net: 'ff00::', bits: 8, what: 'a multicast address' },
  { net: '2001::', bits: 23, what: 'a reserved address' },
  { net: '2001:db8::', bits: 32, what: 'a documentation address' },
  { net: '2002::', bits: 16, what: 'a tunnel (6to4) address' },
  { net: '3fff::', bits: 20, what: 'a documentation address' },
];

function listOf(ranges: readonly Range[], family: 'ipv4' | 'ipv6'): readonly { readonly what: string; readonly list: BlockList }[] {
  return ranges.map(({ net, bits, what }) => {
    const list = new BlockList();
    list.addSubnet(net, bits, family);
    return { what, list };
  });
}

const V4 = listOf(CLOSED_V4, 'ipv4');
const V6 = listOf(CLOSED_V6, 'ipv6');
const [PUBLIC_V6] = listOf([{ net: '2000::', bits: 3, what: 'public' }], 'ipv6');

/** Why an address isn't on the public network ("a private address"); undefined: it is. What is no address at all isn't either. */
export function notPublic(address: string): string | undefined {
  const family = isIP(address);
  if (family === 4) return V4.find(({ list }) => list.check(address, 'ipv4'))?.what;
  if (family !== 6 || address.includes('%')) return 'not an address';
  const inner = carriedV4(address, MAPPED, TRANSLATED);
  if (inner !== undefined) return notPublic(inner);
  const found = V6.find(({ list }) => list.check(address, 'ipv6'))?.what;
  return found ?? (PUBLIC_V6?.list.check(address, 'ipv6') === true ? undefined : 'a reserved address');
}

/** `::ffff:a.b.c.d`: a spelling of the IPv4 address. */
const MAPPED = '0:0:0:0:0:65535';
/** `64:ff9b::a.b.c.d`: the way to the IPv4 address in networks that have only IPv6. */
const TRANSLATED = '100:65435:0:0:0:0';

/** The IPv4 address that an IPv6 address with such a beginning stands for. */
function carriedV4(address: string, ...prefixes: readonly string[]): string | undefined {
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  if (!prefixes.includes(groups.slice(0, 6).join(':'))) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [left = '', right] = text.split('::');
  const read = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  if (right === undefined) return read(left);
  const [head, tail] = [read(left), read(right)];
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** One spelling for each address, so that two can be compared. Undefined: it is none. */
export function canonicalAddress(address: string): string | undefined {
  const family = isIP(address);
  if (family === 4) return address;
  if (family !== 6 || address.includes('%')) return undefined;
  return (
    carriedV4(address, MAPPED) ??
    groupsOf(address)
      .map((group) => group.toString(16))
      .join(':')
  );
}
