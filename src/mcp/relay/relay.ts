import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { failure, INTERNAL_ERROR } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createByteLines } from './byte-lines.ts';
import { createOpenRequests } from './open-requests.ts';

export interface RelayParts {
  /** Where `writ up` has let this conversation in. */
  readonly socket: Socket;
  readonly input: Readable;
  readonly output: Writable;
  readonly logger: Logger;
  /** Serves the rest of the conversation in this process. */
  standalone(input: Readable, output: Writable): Promise<void>;
}

/** As a server over stdio: what is longer is refused there. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** What `writ up` may take to end the calls of a conversation that is over. */
const DRAIN_MS = 15_000;

const GONE =
  '`writ up`, which served this connection, has ended. Whether this request ran to its end is not known: check its effects before doing it again. New requests are served without it.';

/**
 * Carries an MCP conversation to `writ up` and back, line by line and unchanged. Agents don't start a server again that has ended, so
 * when `writ up` dies the conversation goes on here: what had no answer gets an error that says so, and a server in this process is
 * told of the handshake that was.
 */
export async function relay({ socket, input, output, logger, standalone }: RelayParts): Promise<void> {
  const requests = createOpenRequests();
  const ended = Promise.withResolvers<void>();
  let target: Writable = socket;
  let inputEnded = false;
  /** Cut off in the middle of an overlong line: the rest of it is nobody's. */
  let skipping = false;

  const fromClient = createByteLines(MAX_LINE_BYTES, (bytes, whole) => {
    if (skipping) {
      skipping = !bytes.includes(0x0a);
      return;
    }
    if (whole && target === socket) requests.asked(bytes);
    midLine = bytes.at(-1) !== 0x0a;
    if (!target.write(bytes)) {
      input.pause();
      target.once('drain', () => input.resume());
    }
  });
  let midLine = false;

  // Only whole lines reach the client, so that a server that dies in the middle of one leaves none half written.
  const fromServer = createByteLines(Number.POSITIVE_INFINITY, (bytes) => {
    requests.answered(bytes);
    if (output.write(bytes)) return;
    socket.pause();
    output.once('drain', () => socket.resume());
  });

  async function onServerGone(): Promise<void> {
    socket.off('end', onServerEnd).off('close', onServerEnd);
    socket.destroy();
    if (inputEnded || output.destroyed) return ended.resolve();
    const ids = requests.ids();
    logger.warn('`writ up` has ended; this process goes on without it', { open_requests: ids.length });
    for (const id of ids) {
      output.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...failure(INTERNAL_ERROR, GONE, { code: 'outcome_unknown' }) })}\n`);
    }
    const again = randomUUID();
    const onwards = new PassThrough();
    for (const line of requests.handshake(again)) onwards.write(`${line}\n`);
    skipping = midLine;
    target = onwards;
    input.resume();
    await standalone(onwards, without(again, output));
    ended.resolve();
  }
  const onServerEnd = (): void => void onServerGone();

  function onInputEnd(): void {
    if (inputEnded) return;
    inputEnded = true;
    fromClient.end();
    target.end();
    // Not unref'ed: until it is over, this timer is what keeps the process.
    if (target === socket) setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  }

  socket.on('data', fromServer.push).on('end', onServerEnd).on('close', onServerEnd);
  input.on('data', fromClient.push).on('end', onInputEnd).on('close', onInputEnd).on('error', onInputEnd);
  // A client that reads nothing any more has gone.
  output.on('error', onInputEnd).on('close', onInputEnd);
  socket.resume();
  await ended.promise;
}

/** An output that keeps back the answer to one request. */
function without(id: string, output: Writable): Writable {
  const marker = JSON.stringify(id);
  const lines = createByteLines(Number.POSITIVE_INFINITY, (bytes) => {
    const kept = bytes.length < 100_000 && bytes.includes(`"id":${marker}`);
    if (!kept) output.write(bytes);
  });
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk);
      if (output.writableNeedDrain) output.once('drain', done);
      else done();
    },
    final(done) {
      lines.end();
      done();
    },
  });
}
