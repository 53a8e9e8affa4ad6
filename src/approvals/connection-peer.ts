import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { endianness } from 'node:os';

/** The two ends of a TCP connection, as the socket that was accepted sees them. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Who holds the other end of a connection. */
export type ConnectionPeer =
  /** Processes of this machine; several where one inherited it from another. */
  | { readonly type: 'processes'; readonly pids: readonly number[] }
  /** Nobody who could reach this Writ home: another machine or network namespace, or another account. */
  | { readonly type: 'elsewhere' }
  /** A process of this account that can't be found: it hides its descriptors, or there are more than are looked through. */
  | { readonly type: 'hidden' };

/** Looking through a busy machine blocks this thread; beyond this the peer counts as hidden. */
const MOST_DESCRIPTORS = 200_000;
const MOST_HOLDERS = 8;

export function connectionPeer(ends: ConnectionEnds): ConnectionPeer {
  const socket = otherSocket(ends);
  if (socket === undefined) return { type: 'elsewhere' };
  const pids = holdersOf(socket);
  if (pids.length > 0) return { type: 'processes', pids };
  const self = process.getuid?.();
  return self === 0 || self === socket.uid ? { type: 'hidden' } : { type: 'elsewhere' };
}

interface OtherSocket {
  readonly inode: string;
  readonly uid: number;
}

/**
 * The kernel lists both ends of a connection within one network namespace, each with its owner: the other end is the line with our
 * addresses exchanged. A socket of the IPv6 kind that talks IPv4 is listed by its mapped address.
 */
function otherSocket({ localAddress, localPort, remoteAddress, remotePort }: ConnectionEnds): OtherSocket | undefined {
  if (localAddress === undefined || remoteAddress === undefined || localPort === undefined || remotePort === undefined) return undefined;
  const [here, there] = [plain(localAddress), plain(remoteAddress)];
  for (const [table, shape] of [
    ['/proc/self/net/tcp', plain],
    ['/proc/self/net/tcp6', mapped],
  ] as const) {
    if (table.endsWith('tcp') && !isIPv4(here)) continue;
    const line = lineOf(table, `${kernelAddress(shape(there))}:${hexPort(remotePort)} ${kernelAddress(shape(here))}:${hexPort(localPort)}`);
    if (line !== undefined) return line;
  }
  return undefined;
}

function lineOf(table: string, addresses: string): OtherSocket | undefined {
  let text: string;
  try {
    text = readFileSync(table, 'latin1');
  } catch {
    // A kernel without IPv6 has no such table.
    return undefined;
  }
  const at = text.indexOf(` ${addresses} `);
  if (at < 0) return undefined;
  // After the addresses: state, queues, timer, retransmits, uid, timeout, inode.
  const [, , , , uid, , inode] = text
    .slice(at + addresses.length + 2, text.indexOf('\n', at))
    .trim()
    .split(/\s+/);
  // One that is only waiting for late packets has no owner any more.
  return inode === undefined || inode === '0' ? undefined : { inode, uid: Number(uid) };
}

function holdersOf({ inode, uid }: OtherSocket): readonly number[] {
  const wanted = `socket:[${inode}]`;
  const holders: number[] = [];
  let left = MOST_DESCRIPTORS;
  // Newest first: whoever asks hardly ever is older than what else runs here.
  for (const pid of numbersIn('/proc').sort((a, b) => b - a)) {
    if (!ownedBy(uid, pid)) continue;
    for (const fd of numbersIn(`/proc/${pid}/fd`)) {
      if (left-- <= 0) return [];
      if (linkOf(`/proc/${pid}/fd/${fd}`) !== wanted) continue;
      holders.push(pid);
      if (holders.length >= MOST_HOLDERS) return holders;
      break;
    }
  }
  return holders;
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    // It ended meanwhile, or shows nothing of itself.
    return [];
  }
}

/** A process that changed its user, or hides, shows another owner here than its sockets have; root's may be anybody's. */
function ownedBy(uid: number, pid: number): boolean {
  try {
    const owner = statSync(`/proc/${pid}`).uid;
    return owner === uid || owner === 0;
  } catch {
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const MAPPED = '::ffff:';

function plain(address: string): string {
  const zoneless = address.replace(/%.*$/, '');
  return zoneless.startsWith(MAPPED) && isIPv4(zoneless.slice(MAPPED.length)) ? zoneless.slice(MAPPED.length) : zoneless;
}

function mapped(address: string): string {
  return isIPv4(address) ? MAPPED + address : address;
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** As `/proc/net/tcp` writes it: words of 32 bits, each as this machine has it in memory. */
export function kernelAddress(address: string): string {
  const bytes = Buffer.from(isIPv4(address) ? address.split('.').map(Number) : bytesOfIPv6(address));
  if (endianness() === 'LE') bytes.swap32();
  return bytes.toString('hex').toUpperCase();
}

function bytesOfIPv6(address: string): readonly number[] {
  // `new URL` spells every address in the one canonical way, dotted ends included.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const between = tail === undefined ? [] : Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...between, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}
