import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import { createLineDecoder } from '../../kernel/json-rpc/framing.ts';
import type { JsonObject } from '../types.ts';
import type { Carrier, CarrierEvents } from './carrier.ts';

/** What is written and not taken yet; above it nothing more is sent, since an upstream that doesn't read will not answer either. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const SAMPLE = 200;
/** One that closes its output is mostly on its way out, and how it goes is worth knowing; after so long it is ended. */
const LINGER_MS = 1_000;

/** The two streams of a program and how it is ended. */
export interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the program is gone, with how. */
  readonly ended: Promise<string>;
  close(): Promise<unknown>;
}

/**
 * One message a line. A line over the limit ends the connection: what follows it may be the rest of an answer, and whoever waits must
 * hear why. Anything else that is no message (a banner, a log line on the wrong stream) is noise.
 */
export function createStdioCarrier(pipes: Pipes, max_bytes: number): Carrier {
  const { stdin, stdout } = pipes;
  let over: string | undefined;
  let events: CarrierEvents | undefined;
  /** What else is said in this turn is written at its end: calls that were let through together wake the program once. Undefined: nothing was said. */
  let more: string | undefined;

  function flush(): void {
    const text = more ?? '';
    more = undefined;
    if (text !== '' && stdin.writable) stdin.write(text);
  }

  function end(reason: string): void {
    if (over !== undefined) return;
    // What was said right before, as that a call is not wanted any more.
    flush();
    over = reason;
    stdout.destroy();
    events?.closed(reason);
    void pipes.close();
  }

  return {
    type: 'stdio',
    start(given) {
      events = given;
      const decoder = createLineDecoder(max_bytes, (frame) => {
        if (over !== undefined) return;
        if (frame.type === 'oversized') end(`it sent a message of more than ${max_bytes} bytes (max_response_bytes)`);
        else if (frame.type === 'not_utf8') given.noise('not_utf8', '');
        else {
          let message: unknown;
          try {
            message = JSON.parse(frame.text);
          } catch {
            given.noise('not_json', frame.text.slice(0, SAMPLE));
            return;
          }
          given.message(message);
        }
      });
      stdout.on('data', (chunk: Uint8Array) => decoder.push(chunk));
      stdout.on('error', (error: Error) => end(`reading from it failed: ${error.message}`));
      stdin.on('error', (error: Error) => end(`writing to it failed: ${error.message}`));
      // What it wrote before it ended is read first; how it ended says more than that its output did.
      stdout.on('end', () => {
        decoder.end();
        const late = setTimeout(() => void pipes.close(), LINGER_MS).unref();
        void pipes.ended.then((how) => {
          clearTimeout(late);
          end(how);
        });
      });
      void pipes.ended.then((how) => {
        if (stdout.readableEnded) end(how);
        else stdout.once('close', () => end(how));
      });
      return Promise.resolve();
    },
    send(message: JsonObject) {
      if (over !== undefined || !stdin.writable) {
        return Promise.reject(new AppError('upstream_unavailable', `It is not connected: ${over ?? 'its input is closed'}.`));
      }
      if (stdin.writableLength + (more?.length ?? 0) > MAX_UNREAD_BYTES) {
        return Promise.reject(new AppError('busy', 'It does not read what is sent to it; 64 MiB are waiting already.'));
      }
      const line = `${JSON.stringify(message)}\n`;
      if (more === undefined) {
        more = '';
        process.nextTick(flush);
        stdin.write(line);
      } else more += line;
      return Promise.resolve();
    },
    speak() {},
    async close() {
      end('it was closed');
      await pipes.close();
    },
  };
}
