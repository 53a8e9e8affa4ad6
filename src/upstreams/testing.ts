import { PassThrough } from 'node:stream';
import { createLineDecoder } from '../kernel/json-rpc/framing.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import type { Pipes } from './wire/stdio-carrier.ts';

type Members = Readonly<Record<string, unknown>>;

/** An upstream as a function of what it is sent: it says what it likes, when it likes. */
export interface FakeServer extends Pipes {
  /** Everything it was sent. */
  readonly heard: Members[];
  say(message: unknown): void;
  /** Bytes as they are. */
  write(bytes: string | Uint8Array): void;
  exit(how?: string): void;
}

export type Behaviour = (message: Members, server: FakeServer) => void;

export function fakeServer(behave: Behaviour): FakeServer {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const ended = Promise.withResolvers<string>();
  const heard: Members[] = [];
  const server: FakeServer = {
    stdin,
    stdout,
    ended: ended.promise,
    heard,
    say: (message) => void stdout.write(`${JSON.stringify(message)}\n`),
    write: (bytes) => void stdout.write(bytes),
    exit(how = 'it exited with 0') {
      stdout.end();
      ended.resolve(how);
    },
    close() {
      server.exit('it was closed');
      return ended.promise;
    },
  };
  const decoder = createLineDecoder(64 * 1024 * 1024, (frame) => {
    const message: unknown = frame.type === 'line' ? JSON.parse(frame.text) : undefined;
    if (!isObject(message)) return;
    heard.push(message);
    behave(message, server);
  });
  stdin.on('data', (chunk: Uint8Array) => decoder.push(chunk));
  return server;
}

/** Answers `initialize`, lists these tools, and hands everything else on. */
export function olderServer(tools: readonly unknown[], behave: Behaviour = () => {}): FakeServer {
  return fakeServer((message, server) => {
    const { id, method } = message;
    const result = (value: Members): void => server.say({ jsonrpc: '2.0', id, result: value });
    if (method === 'initialize') {
      result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } });
    } else if (method === 'server/discover') server.say({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    else if (method === 'tools/list') result({ tools });
    else behave(message, server);
  });
}
