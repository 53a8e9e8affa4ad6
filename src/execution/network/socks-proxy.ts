import type { Socket } from 'node:net';
import type { Leave } from './egress.ts';
import { joinSockets, sayLast } from './tunnel.ts';

const HANDSHAKE_MS = 15_000;
/** Longer than any greeting and request together. */
const MAX_BYTES = 1024;

const SUCCEEDED = 0x00;
const NOT_ALLOWED = 0x02;
const HOST_UNREACHABLE = 0x04;
const COMMAND_NOT_SUPPORTED = 0x07;
const ADDRESS_NOT_SUPPORTED = 0x08;

type Wish = { readonly host: string; readonly port: number; readonly rest: Buffer } | number;

/** SOCKS 5 (RFC 1928) without authentication: CONNECT to a name or an address. */
export function createSocksProxy(leave: Leave, signal: AbortSignal): (client: Socket) => void {
  return (client) => {
    client.on('error', () => client.destroy());
    const timer = setTimeout(() => client.destroy(), HANDSHAKE_MS);
    client.on('close', () => clearTimeout(timer));
    let bytes = Buffer.alloc(0);
    let greeted = false;

    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const wish = read();
      if (wish === 'more') {
        if (bytes.length > MAX_BYTES) client.destroy();
        return;
      }
      client.pause();
      client.removeListener('data', onData);
      clearTimeout(timer);
      if (wish === 'bad') client.destroy();
      else if (typeof wish === 'number') sayLast(client, reply(wish));
      else connect(client, wish, leave, signal).catch(() => client.destroy());
    };
    const read = (): Wish | 'more' | 'bad' => {
      if (!greeted) {
        const after = readGreeting(bytes);
        if (typeof after === 'string') return after;
        client.write(Buffer.from([5, 0]));
        greeted = true;
        bytes = bytes.subarray(after);
      }
      return readRequest(bytes);
    };
    client.on('data', onData);
  };
}

async function connect(client: Socket, wish: Exclude<Wish, number>, leave: Leave, signal: AbortSignal): Promise<void> {
  const left = await leave(wish.host, wish.port, signal);
  if (left.type !== 'connected') {
    sayLast(client, reply(left.type === 'refused' ? NOT_ALLOWED : HOST_UNREACHABLE));
    return;
  }
  if (client.destroyed) {
    left.socket.destroy();
    return;
  }
  client.write(reply(SUCCEEDED));
  if (wish.rest.length > 0) left.socket.write(wish.rest);
  joinSockets(client, left.socket);
}

/** Where the greeting ends. */
function readGreeting(bytes: Buffer): number | 'bad' | 'more' {
  const [version, methods] = bytes;
  if (version === undefined) return 'more';
  if (version !== 5) return 'bad';
  if (methods === undefined || bytes.length < 2 + methods) return 'more';
  return bytes.subarray(2, 2 + methods).includes(0) ? 2 + methods : 'bad';
}

/** A number: the reply that refuses it. */
function readRequest(bytes: Buffer): Wish | 'more' {
  const [version, command, , kind, first] = bytes;
  if (kind === undefined || first === undefined) return 'more';
  if (version !== 5 || command !== 1) return COMMAND_NOT_SUPPORTED;
  const size = { 1: 4, 3: first, 4: 16 }[kind];
  if (size === undefined || size === 0) return ADDRESS_NOT_SUPPORTED;
  const from = kind === 3 ? 5 : 4;
  const end = from + size;
  if (bytes.length < end + 2) return 'more';
  const address = bytes.subarray(from, end);
  return { host: hostOf(kind, address), port: bytes.readUInt16BE(end), rest: bytes.subarray(end + 2) };
}

function hostOf(kind: number, address: Buffer): string {
  if (kind === 1) return [...address].join('.');
  if (kind === 3) return address.toString('latin1');
  return Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16)).join(':');
}

function reply(code: number): Buffer {
  return Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}
