import type { Socket } from 'node:net';
import { AppError } from '../../kernel/errors.ts';
import type { Guard } from './guard.ts';

/** The shape of undici's `connect` option (Agent, Client, Pool), which is asked for literals and names alike. */
export type Connector = (
  request: { readonly hostname: string; readonly protocol: string; readonly port: string; readonly servername?: string },
  callback: (...args: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
) => void;

const TLS_MS = 15_000;

/**
 * Dials through the guard in place of undici's own connector, whose `lookup` hook isn't asked for addresses. What follows redirects
 * must ask `readOutwardUrl` for each; the connection itself is checked here every time.
 */
export function createConnector(guard: Guard, signal: AbortSignal): Connector {
  return ({ hostname, protocol, port, servername }, callback) => {
    const secure = protocol === 'https:';
    const connect = async (): Promise<Socket> => {
      const dialled = await guard.dial(hostname, Number(port) || (secure ? 443 : 80), signal);
      if (dialled.type === 'refused') throw new AppError('denied_by_policy', `${hostname} was not connected to: ${dialled.reason}.`);
      if (dialled.type === 'failed')
        throw new Error(dialled.reason.startsWith(hostname) ? dialled.reason : `${hostname}: ${dialled.reason}`);
      return secure ? secured(dialled.socket, servername || hostname) : dialled.socket;
    };
    connect().then(
      (socket) => callback(null, socket),
      (thrown: unknown) => callback(thrown instanceof Error ? thrown : new Error(String(thrown)), null),
    );
  };
}

async function secured(socket: Socket, name: string): Promise<Socket> {
  // Takes eight milliseconds to load; who never dials shouldn't wait for it.
  const { connect: connectTls } = await import('node:tls');
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const isAddress = name.includes(':') || /^[\d.]+$/.test(name);
  const tls = connectTls({ socket, ALPNProtocols: ['http/1.1'], host: name, ...(isAddress ? {} : { servername: name }) });
  const timer = setTimeout(() => tls.destroy(new Error(`no TLS handshake within ${TLS_MS / 1000} s`)), TLS_MS);
  tls.once('secureConnect', () => {
    clearTimeout(timer);
    tls.removeListener('error', fail);
    resolve(tls);
  });
  const fail = (error: Error): void => {
    clearTimeout(timer);
    socket.destroy();
    reject(error);
  };
  tls.once('error', fail);
  return promise;
}
