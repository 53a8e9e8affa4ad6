import { connect, type Socket } from 'node:net';
import { firstLine } from './first-line.ts';
import { HELLO_MS, type Hello, MAX_HELLO_BYTES, parseWelcome } from './hello.ts';

export type Knocked =
  | { readonly type: 'let_in'; readonly socket: Socket; readonly run: string }
  /** Nobody listens there. */
  | { readonly type: 'nobody' }
  | { readonly type: 'sent_away'; readonly why: string };

/** Asks the `writ up` behind a socket to serve this process's agent. */
export async function knock(path: string, hello: Hello): Promise<Knocked> {
  const socket = await open(path);
  if (socket === undefined) return { type: 'nobody' };
  socket.on('error', () => {});
  socket.write(`${JSON.stringify(hello)}\n`);
  const line = await firstLine(socket, MAX_HELLO_BYTES, HELLO_MS);
  const welcome = line === undefined ? undefined : parseWelcome(line);
  if (welcome?.ok) return { type: 'let_in', socket, run: welcome.run };
  socket.destroy();
  return { type: 'sent_away', why: welcome?.message ?? `it did not answer within ${HELLO_MS} ms` };
}

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    const failed = (): void => resolve(undefined);
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
