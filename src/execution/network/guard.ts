import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { canonicalAddress, notPublic } from './address-ranges.ts';
import { type Host, readHost } from './host-name.ts';

/** Answers with every address of a name; what can't be found rejects. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface Opened {
  /** A name (opened wherever it leads to) or one address. */
  readonly host: string;
  /** Absent: every port. */
  readonly port?: number;
}

export interface GuardOptions {
  /** What the public network doesn't have and is to be reached all the same. */
  readonly allow?: readonly Opened[];
  /** For tests: names of their own. */
  readonly resolve?: Resolve;
}

export type HostCheck =
  | { readonly ok: true; readonly addresses: readonly string[] }
  /** `policy`: it must not be dialled. `unknown`: it has no address now. */
  | { readonly ok: false; readonly cause: 'policy' | 'unknown'; readonly reason: string };

export type Dialled =
  | { readonly type: 'connected'; readonly socket: Socket; readonly address: string }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };

export interface Guard {
  /** Where a host leads to now, and whether that may be dialled. `port` matters only for what was opened for one port. */
  check(host: string, port?: number): Promise<HostCheck>;
  /** Looks the host up once, checks every answer and connects to one of those that were checked. */
  dial(host: string, port: number, signal: AbortSignal): Promise<Dialled>;
}

const RESOLVE_MS = 10_000;
const CONNECT_MS = 15_000;
/** A name with more addresses than this is an attack or a mistake; the rest is not looked at. */
const MAX_ADDRESSES = 64;

/**
 * The one way from Writ to the outside for whatever a model has named. A name is worth as much as the addresses it has at the moment of
 * dialling: all of them must be public, and the one that is dialled is one that was checked, without a second look-up in between.
 */
export function createGuard(options: GuardOptions = {}): Guard {
  const resolve = options.resolve ?? systemResolve;
  const opened = (options.allow ?? []).map(({ host, port }) => ({ host: readHost(host), port }));

  const isOpened = (asked: Host, port: number | undefined): boolean =>
    opened.some((entry) => (entry.port === undefined || entry.port === port) && isSame(entry.host, asked));

  const judge = (address: string, port: number | undefined): string | undefined => {
    const why = notPublic(address);
    return why === undefined || isOpened(readHost(address), port) ? undefined : why;
  };

  const check = async (text: string, port?: number): Promise<HostCheck> => {
    const host = readHost(text);
    if (host.kind === 'bad') return { ok: false, cause: 'policy', reason: host.reason };
    if (host.kind === 'address') {
      const why = judge(host.address, port);
      return why === undefined
        ? { ok: true, addresses: [host.address] }
        : { ok: false, cause: 'policy', reason: `${host.address} is ${why}` };
    }
    const free = isOpened(host, port);
    if (host.special !== undefined && !free) return { ok: false, cause: 'policy', reason: host.special };
    const found = await answers(resolve, host.name);
    if (typeof found === 'string') return { ok: false, cause: 'unknown', reason: found };
    for (const address of free ? [] : found) {
      const why = judge(address, port);
      if (why !== undefined) return { ok: false, cause: 'policy', reason: `${host.name} leads to ${address}, ${why}` };
    }
    return { ok: true, addresses: found };
  };

  return {
    check,
    async dial(host, port, signal) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) return { type: 'refused', reason: `${port} is not a port` };
      const checked = await check(host, port);
      if (!checked.ok) return { type: checked.cause === 'policy' ? 'refused' : 'failed', reason: checked.reason };
      return open(checked.addresses, port, signal);
    },
  };
}

function isSame(one: Host, other: Host): boolean {
  if (one.kind === 'address') return other.kind === 'address' && other.address === one.address;
  return one.kind === 'name' && other.kind === 'name' && other.name === one.name;
}

async function systemResolve(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** A string says why there are none. */
async function answers(resolve: Resolve, name: string): Promise<readonly string[] | string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(late.resolve, RESOLVE_MS, `${name} could not be looked up within ${RESOLVE_MS / 1000} s`);
  try {
    const found = await Promise.race([resolve(name), late.promise]);
    if (typeof found === 'string') return found;
    const addresses = found.slice(0, MAX_ADDRESSES).map((address) => canonicalAddress(address) ?? address);
    return addresses.length > 0 ? addresses : `${name} has no address`;
  } catch {
    return `${name} has no address`;
  } finally {
    clearTimeout(timer);
  }
}

/** Tries the addresses as a browser does (the next one starts while a slow one is still waited for); nothing else is looked up. */
function open(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Dialled> {
  const { promise, resolve } = Promise.withResolvers<Dialled>();
  const [first = ''] = addresses;
  const socket = connect({
    // Only a label: `lookup` answers for it.
    host: addresses.length === 1 ? first : 'checked',
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  });
  const end = (dialled: Dialled): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    socket.removeListener('error', onError);
    if (dialled.type !== 'connected') socket.destroy();
    resolve(dialled);
  };
  const onError = (error: Error): void => end({ type: 'failed', reason: `no connection: ${messageOf(error)}` });
  const onAbort = (): void => end({ type: 'failed', reason: 'given up' });
  const timer = setTimeout(() => end({ type: 'failed', reason: `no connection within ${CONNECT_MS / 1000} s` }), CONNECT_MS);
  socket.once('error', onError);
  // A late error of a socket that was given up has nobody left to tell.
  socket.on('error', () => undefined);
  socket.once('connect', () => {
    const address = canonicalAddress(socket.remoteAddress ?? '') ?? '';
    if (addresses.includes(address)) end({ type: 'connected', socket, address });
    else end({ type: 'refused', reason: 'the address that answered is not one that was checked' });
  });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return promise;
}

function messageOf(error: Error): string {
  if (error instanceof AggregateError) return String(error.errors[0]?.code ?? error.message);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
