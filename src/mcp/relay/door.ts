import { chmodSync, linkSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type AnswerParts, createAnswers } from './answers.ts';
import { firstLine } from './first-line.ts';
import { HELLO_MS, type Hello, MAX_HELLO_BYTES, parseHello, type Welcome } from './hello.ts';
import { parseInquiry } from './inquiry.ts';

export interface DoorParts extends AnswerParts {
  readonly path: string;
  readonly logger: Logger;
  /** Gets ready for one agent; an AppError is the reason why it isn't served here. */
  enter(hello: Hello): Promise<{ readonly run: string; serve(socket: Socket): Promise<void> }>;
}

export interface Door {
  /** Lets nobody in any more and takes the socket away. Connections are closed by whoever serves them. */
  close(): Promise<void>;
}

/** More agents than this on one machine are served by processes of their own. */
const MAX_CONNECTIONS = 256;

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
  const answers = createAnswers({ version, answer });

  async function receive(socket: Socket): Promise<void> {
    const line = await firstLine(socket, MAX_HELLO_BYTES, HELLO_MS);
    const inquiry = line === undefined ? undefined : parseInquiry(line);
    if (inquiry !== undefined) return answers.give(inquiry, socket);
    const hello = line === undefined ? undefined : parseHello(line);
    if (hello === undefined) return void socket.destroy();
    try {
      if (hello.version !== version) throw new AppError('config_invalid', `\`writ up\` is version ${version}, this is ${hello.version}.`);
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
      answers.close();
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
