import { chmodSync, linkSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { firstLine } from './first-line.ts';
import { HELLO_MS, type Hello, MAX_HELLO_BYTES, parseHello, type Welcome } from './hello.ts';
import { type Inquiry, type InquiryLine, parseInquiry } from './inquiry.ts';

export interface DoorParts {
  readonly path: string;
  readonly version: string;
  readonly logger: Logger;
  /** Gets ready for one agent; an AppError is the reason why it isn't served here. */
  enter(hello: Hello): Promise<{ readonly run: string; serve(socket: Socket): Promise<void> }>;
  /** Answers a command of this user, until it resolves or the signal says that nobody listens any more; an AppError is the refusal. */
  answer(inquiry: Inquiry, say: (value: unknown) => void, signal: AbortSignal): Promise<void>;
}

export interface Door {
  /** Lets nobody in any more and takes the socket away. Connections are closed by whoever serves them. */
  close(): Promise<void>;
}

/** More agents than this on one machine are served by processes of their own. */
const MAX_CONNECTIONS = 256;

/** Of an answer that its command doesn't take; beyond it the connection is cut. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Listens on a socket of the Writ home. A socket that nobody answers on is left from a process that was killed, and is replaced; one
 * that is answered belongs to another `writ up` of this home: AppError address_in_use.
 */
export async function openDoor({ path, version, logger, enter, answer }: DoorParts): Promise<Door> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', (error) => logger.debug('a relay is gone', { reason: error.message }));
    void receive(socket);
  });
  server.maxConnections = MAX_CONNECTIONS;
  /** Bounded by the connections. */
  const answering = new Set<AbortController>();

  async function receive(socket: Socket): Promise<void> {
    const line = await firstLine(socket, MAX_HELLO_BYTES, HELLO_MS);
    const inquiry = line === undefined ? undefined : parseInquiry(line);
    if (inquiry !== undefined) return answerTo(inquiry, socket);
    const hello = line === undefined ? undefined : parseHello(line);
    if (hello === undefined) return void socket.destroy();
    try {
      sameVersion(hello);
      const { run, serve } = await enter(hello);
      say(socket, { ok: true, run });
      await serve(socket);
      socket.end();
    } catch (thrown) {
      const error = toAppError(thrown);
      logger.warn('a relay is not served', { reason: error.message });
      say(socket, { ok: false, message: error.message });
      socket.end();
    }
  }

  function sameVersion(its: { readonly version: string }): void {
    if (its.version !== version) throw new AppError('config_invalid', `\`writ up\` is version ${version}, this is ${its.version}.`);
  }

  async function answerTo(inquiry: Inquiry, socket: Socket): Promise<void> {
    const over = new AbortController();
    const say = (line: InquiryLine): void => {
      if (socket.destroyed) return;
      socket.write(`${JSON.stringify(line)}\n`);
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
    };
    answering.add(over);
    socket.on('close', () => over.abort()).on('end', () => over.abort());
    socket.resume();
    try {
      sameVersion(inquiry);
      await answer(inquiry, (value) => say({ value }), over.signal);
      say({ done: true });
    } catch (thrown) {
      const { code, message, fix } = toAppError(thrown);
      say({ error: { code, message, ...(fix === undefined ? {} : { fix }) } });
    } finally {
      answering.delete(over);
      socket.end();
    }
  }

  // Made under a name of its own, then given the real one in a step that fails when somebody else has it.
  const own = `${path}.${process.pid}`;
  rmSync(own, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(own, resolve);
  });
  try {
    chmodSync(own, 0o600);
    await claim(own, path);
  } catch (thrown) {
    server.close();
    throw thrown;
  } finally {
    rmSync(own, { force: true });
  }
  const inode = lstatSync(path).ino;

  return {
    async close() {
      // Somebody may have replaced it meanwhile.
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === inode) rmSync(path, { force: true });
      server.close();
      for (const over of answering) over.abort();
    },
  };
}

async function claim(own: string, path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return linkSync(own, path);
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
    }
    if (attempt > 3 || (await isAnswered(path))) {
      throw new AppError('address_in_use', `Another \`writ up\` of this Writ home runs already: it answers at ${path}.`, {
        fix: 'Use that one, or end it first.',
      });
    }
    rmSync(path, { force: true });
  }
}

/** Whether somebody listens on it. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function say(socket: Socket, welcome: Welcome): void {
  socket.write(`${JSON.stringify(welcome)}\n`);
}
