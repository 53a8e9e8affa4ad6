import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type AnswerParts, createAnswers } from './answers.ts';
import { isAnswered } from './door.ts';
import { firstLine } from './first-line.ts';
import { HELLO_MS } from './hello.ts';
import { parseInquiry } from './inquiry.ts';
import { fitsSocket, isOwnSocket, socketPath } from './socket-path.ts';

/** Folder of the home where processes that serve an agent by themselves listen. */
const FOLDER = 'live';

const MAX_CONNECTIONS = 16;
const MAX_LINE_BYTES = 64 * 1024;

/**
 * Listens for the commands of this user in a process that serves an agent by itself, under its PID. It keeps no process alive, and one that
 * can't be opened is only not asked. Returns how it is closed.
 */
export function openSideDoor({ home, logger, ...parts }: AnswerParts & { readonly home: string; readonly logger: Logger }): () => void {
  const path = join(home, FOLDER, `${process.pid}.sock`);
  const answers = createAnswers(parts);
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', (error) => logger.debug('a command is gone', { reason: error.message }));
    void firstLine(socket, MAX_LINE_BYTES, HELLO_MS).then((line) => {
      const inquiry = line === undefined ? undefined : parseInquiry(line);
      if (inquiry === undefined) socket.destroy();
      else void answers.give(inquiry, socket);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('error', (error) => logger.debug('commands can not ask this process', { reason: error.message }));
  if (fitsSocket(path)) {
    try {
      mkdirSync(join(home, FOLDER), { recursive: true, mode: 0o700 });
      // Of a killed process that had the same number.
      rmSync(path, { force: true });
      server.listen(path, () => chmodSync(path, 0o600)).unref();
    } catch (thrown) {
      logger.debug('commands can not ask this process', { reason: String(errnoOf(thrown) ?? thrown) });
    }
  }
  return () => {
    answers.close();
    server.close();
  };
}

/** Where those listen who serve agents of this home: `writ up` first. What a killed process has left is taken away. */
export async function listeners(home: string, uid: number): Promise<readonly string[]> {
  const main = socketPath(home);
  const paths = [...(main === undefined ? [] : [main]), ...list(join(home, FOLDER)).map((name) => join(home, FOLDER, name))];
  const found = await Promise.all(
    paths.map(async (path) => {
      if (!isOwnSocket(path, uid)) return [];
      if (await isAnswered(path)) return [path];
      // `writ up` sees to its own.
      if (path !== main) rmSync(path, { force: true });
      return [];
    }),
  );
  return found.flat();
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+\.sock$/.test(name))
      .sort();
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
