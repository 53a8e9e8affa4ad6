import { createLineDecoder, type Frame } from '../kernel/json-rpc/framing.ts';
import { failure, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, parseMessage } from '../kernel/json-rpc/message.ts';
import { type Answer, createConnection, type Response } from './connection.ts';
import type { StdioParts, StdioServer } from './types.ts';
import { createWriter } from './writer.ts';

/** The longest message accepted; a longer one is answered with an error and skipped. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const DRAIN_MS = 10_000;
const FLUSH_MS = 2_000;
export const TOO_BIG = 'The answer is too big or cannot be written as JSON';

/**
 * MCP over a pair of byte streams, one message a line. Runs until the input ends, the output breaks, or `close` is called; then calls under way
 * are cancelled and waited for, what they answer is still written, and `closed` resolves. Writes nothing but protocol to `output`.
 */
export function serveStdio(parts: StdioParts): StdioServer {
  const { input, output, logger, drain_ms = DRAIN_MS } = parts;
  const closed = Promise.withResolvers<void>();
  let ending = false;

  const writer = createWriter({
    output,
    logger,
    // A client that doesn't read its answers gets to send no more requests until it does.
    onPressure: (high) => {
      if (ending) return;
      if (high) input.pause();
      else input.resume();
    },
    onDead: (reason) => void end(`the output is gone: ${reason}`),
  });
  const connection = createConnection({ parts });
  const decoder = createLineDecoder(MAX_LINE_BYTES, receive);
  const stopTelling = connection.listen(writer.offer);
  /** Answers still to come. Bounded by the connection's own bounds. */
  const deliveries = new Set<Promise<void>>();

  function receive(frame: Frame): void {
    if (frame.type === 'oversized')
      deliver(connection.errorWithoutId({ code: INVALID_REQUEST, message: 'The message is longer than 8 MiB' }));
    else if (frame.type === 'not_utf8') deliver(connection.errorWithoutId({ code: PARSE_ERROR, message: 'Not valid UTF-8' }));
    else {
      const answer = connection.respond(parseMessage(frame.text), writer);
      if (answer instanceof Promise) remember(answer.then(deliver));
      else deliver(answer);
    }
  }

  function remember(delivery: Promise<void>): void {
    deliveries.add(delivery);
    void delivery.then(() => deliveries.delete(delivery));
  }

  function deliver(answer: Answer): void {
    if (answer === undefined || writer.send(answer)) return;
    // What is too big as one array may go as single messages.
    if (isBatch(answer)) answer.forEach(deliver);
    else writer.send({ jsonrpc: '2.0', id: answer['id'], ...failure(INTERNAL_ERROR, TOO_BIG) });
  }

  async function end(reason: string): Promise<void> {
    if (ending) return;
    ending = true;
    stopTelling();
    logger.debug('the connection ends', { reason });
    input.off('data', onData);
    input.pause();
    connection.shutdown(`The connection ended: ${reason}.`);
    if (!(await within(Promise.all(deliveries), drain_ms)))
      logger.warn('calls did not end in time after they were cancelled', { waited_ms: drain_ms });
    await writer.flush(FLUSH_MS);
    input.destroy();
    closed.resolve();
  }

  function onData(chunk: Uint8Array): void {
    decoder.push(chunk);
  }
  input.on('data', onData);
  input.on('end', () => {
    if (!ending) decoder.end();
    void end('the input has ended');
  });
  input.on('error', (error: Error) => void end(`the input failed: ${error.message}`));
  input.on('close', () => void end('the input was closed'));

  return {
    closed: closed.promise,
    close() {
      void end('the server was told to close');
      return closed.promise;
    },
  };
}

/** Whether `work` was done before `ms` were over. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const inTime = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return inTime;
}

function isBatch(answer: Response | readonly Response[]): answer is readonly Response[] {
  return Array.isArray(answer);
}
