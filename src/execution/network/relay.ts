import { connect, createServer, type Server, type Socket } from 'node:net';
import { AppError } from '../../kernel/errors.ts';
import { joinSockets } from './tunnel.ts';

const LOOPBACK = '127.0.0.1';
const CONNECT_MS = 10_000;
/** Connections of one relay at a time; one more is closed at once. */
const MAX_CLIENTS = 128;

/** At most so many at once, and none after the signal. */
function bounded(serve: (client: Socket) => void, signal: AbortSignal): (client: Socket) => void {
  const clients = new Set<Socket>();
  signal.addEventListener('abort', () => {
    for (const client of clients) client.destroy();
  });
  return (client) => {
    client.on('error', () => client.destroy());
    if (signal.aborted || clients.size >= MAX_CLIENTS) {
      client.destroy();
      return;
    }
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.allowHalfOpen = true;
    serve(client);
  };
}

/** While `far` isn't reached yet, either takes the other along. The answer says that it was. */
function untilJoined(client: Socket, far: Socket): () => void {
  let joined = false;
  far.on('error', () => far.destroy());
  client.on('close', () => joined || far.destroy());
  far.on('close', () => joined || client.destroy());
  far.setTimeout(CONNECT_MS, () => joined || far.destroy());
  return () => {
    joined = true;
    joinSockets(client, far);
  };
}

/** Inward: connections from a run to a port that the operator has opened on the host's loopback. */
export function relayInward(port: number, signal: AbortSignal): (client: Socket) => void {
  return bounded((client) => {
    const host = connect({ port, host: LOOPBACK, allowHalfOpen: true });
    const join = untilJoined(client, host);
    host.on('connect', join);
  }, signal);
}

/** Takes these ports of the host's loopback, or none of them. */
export async function takePorts(ports: readonly number[]): Promise<ReadonlyMap<number, Server>> {
  const taken = new Map<number, Server>();
  try {
    for (const port of ports) {
      const server = createServer({ allowHalfOpen: true });
      await listenOn(server, port);
      taken.set(port, server);
    }
    return taken;
  } catch (thrown) {
    for (const server of taken.values()) server.close();
    throw thrown;
  }
}

function listenOn(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'it is in use by another program' : error.message;
    reject(
      new AppError('invalid_arguments', `Port ${port} of this machine can't be used: ${why}.`, {
        fix: 'Choose another port, or end what uses it (job_list shows the jobs here).',
      }),
    );
  });
  server.listen(port, LOOPBACK, () => resolve());
  return promise;
}

/** Connections from inside that wait to be used; more are closed. */
const MAX_PARKED = 16;
/** Somebody wants in, and the helper inside hasn't come yet. */
const WAIT_MS = 5_000;

export interface Outlet {
  /** A connection from the helper inside. */
  park(socket: Socket): void;
  /** Serves connections to a published port. */
  serve(port: number): (client: Socket) => void;
}

/**
 * Outward: connections from the host to a port of a run. Only a process inside can make them, so a helper there keeps some waiting
 * (see inlets.ts); one of them is told the port, answers with a byte whether somebody listens, and becomes the connection.
 */
export function createOutlet(signal: AbortSignal): Outlet {
  const parked: Socket[] = [];
  const waiting = new Set<(socket: Socket | undefined) => void>();
  signal.addEventListener('abort', () => {
    for (const socket of parked) socket.destroy();
    for (const settle of waiting) settle(undefined);
  });

  const take = (): Promise<Socket | undefined> => {
    const next = parked.shift();
    if (next) return Promise.resolve(next);
    const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
    const settle = (socket: Socket | undefined): void => {
      clearTimeout(timer);
      waiting.delete(settle);
      resolve(socket);
    };
    const timer = setTimeout(settle, WAIT_MS, undefined);
    waiting.add(settle);
    return promise;
  };

  const enter = async (client: Socket, port: number): Promise<void> => {
    const inside = await take();
    if (!inside || client.destroyed) {
      client.destroy();
      inside?.destroy();
      return;
    }
    const join = untilJoined(client, inside);
    inside.once('data', (answer: Buffer) => {
      inside.pause();
      if (answer[0] !== 1) {
        client.destroy();
        return;
      }
      if (answer.length > 1) client.write(answer.subarray(1));
      join();
    });
    inside.write(Buffer.from([port >> 8, port & 255]));
  };

  return {
    park(socket) {
      socket.on('error', () => socket.destroy());
      socket.allowHalfOpen = true;
      const [next] = waiting;
      if (next) {
        next(socket);
        return;
      }
      if (signal.aborted || parked.length >= MAX_PARKED) {
        socket.destroy();
        return;
      }
      parked.push(socket);
      socket.on('close', () => {
        const at = parked.indexOf(socket);
        if (at >= 0) parked.splice(at, 1);
      });
    },
    serve: (port) => bounded((client) => void enter(client, port), signal),
  };
}
