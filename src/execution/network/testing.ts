import { connect, createServer, type Server, type Socket } from 'node:net';
import { createGuard, type Guard, type GuardOptions } from './guard.ts';

/** For tests: a world of names that all live on loopback ports of the test. What isn't in it has no address. */
export interface World {
  /** `host:port` as it is asked for, to the loopback port that answers. */
  readonly places: Map<string, number>;
  /** What was dialled, in order. */
  readonly dialled: string[];
  /** Judged by the real guard with these answers, then dialled at its place. */
  makeGuard(options: GuardOptions): Guard;
}

const PUBLIC = '93.184.216.34';

export function makeWorld(addresses: Readonly<Record<string, readonly string[]>> = {}): World {
  const places = new Map<string, number>();
  const dialled: string[] = [];
  return {
    places,
    dialled,
    makeGuard(options) {
      const resolve = async (name: string): Promise<readonly string[]> => {
        if (addresses[name] !== undefined) return addresses[name];
        if ([...places.keys()].some((place) => place.startsWith(`${name}:`))) return [PUBLIC];
        throw new Error('ENOTFOUND');
      };
      const judge = createGuard({ ...options, resolve });
      const here = createGuard({ allow: [{ host: '127.0.0.1' }] });
      return {
        check: judge.check,
        async dial(host, port, signal) {
          const checked = await judge.check(host, port);
          if (!checked.ok) return { type: checked.cause === 'policy' ? 'refused' : 'failed', reason: checked.reason };
          dialled.push(`${host}:${port}`);
          const place = places.get(`${host}:${port}`);
          return place === undefined ? { type: 'failed', reason: 'no connection: ECONNREFUSED' } : here.dial('127.0.0.1', place, signal);
        },
      };
    },
  };
}

export interface Listening {
  readonly port: number;
  readonly server: Server;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  close(): void;
}

/** A server on a loopback port of its own. */
export async function listen(serve: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    server,
    sockets,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Sends bytes, and gives all that comes back until the other side ends. */
export function exchange(port: number, bytes: string | Buffer, options: { readonly end?: boolean } = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('end', () => {
    socket.destroy();
    resolve(text);
  });
  socket.on('close', () => resolve(text));
  socket.on('error', reject);
  if (options.end === true) socket.end(bytes);
  else socket.write(bytes);
  return promise;
}
