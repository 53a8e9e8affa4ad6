import { createConnection } from './connection.ts';
import { createLineDecoder } from './framing.ts';
import type { StdioParts, StdioServer } from './types.ts';
import { createWriter } from './writer.ts';

/** The longest message accepted; a longer one is answered with an error and skipped. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const DRAIN_MS = 10_000;
const FLUSH_MS = 2_000;

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
  const connection = createConnection(parts, writer);
  const decoder = createLineDecoder(MAX_LINE_BYTES, connection.receive);

  async function end(reason: string): Promise<void> {
    if (ending) return;
    ending = true;
    logger.debug('the connection ends', { reason });
    input.off('data', onData);
    input.pause();
    const drained = connection.shutdown(`The connection ended: ${reason}.`);
    if (!(await within(drained, drain_ms))) logger.warn('calls did not end in time after they were cancelled', { waited_ms: drain_ms });
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
async function within(work: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const inTime = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return inTime;
}
