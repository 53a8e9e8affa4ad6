import type { Writable } from 'node:stream';
import type { Logger } from '../kernel/logger.ts';

const MIB = 1024 * 1024;
/** About what a pipe holds: more unread than that means that the client is behind. */
const DROP_ABOVE_BYTES = 64 * 1024;

/** Unread output. Over `stall` nothing more is read from the client; over `limit` it is taken for dead. */
interface WriterLimits {
  /** One message. Clients have bounds too (10 MB in the SDK) and close the connection over them. */
  readonly message_bytes: number;
  readonly stall_bytes: number;
  readonly relief_bytes: number;
  readonly limit_bytes: number;
}

const WRITER_LIMITS: WriterLimits = { message_bytes: 8 * MIB, stall_bytes: 4 * MIB, relief_bytes: MIB, limit_bytes: 64 * MIB };

interface WriterParts {
  readonly output: Writable;
  readonly logger: Logger;
  readonly limits?: WriterLimits;
  /** Unread output rose over `stall_bytes` (true), fell under `relief_bytes` (false). */
  onPressure(high: boolean): void;
  /** Nothing can be written any more; called once. */
  onDead(reason: string): void;
}

export interface Writer {
  /** Queues a message that must arrive. False when it is too big or not JSON; after the output died it is dropped. */
  send(message: unknown): boolean;
  /** A message that may be lost (progress): dropped while earlier output is still unread. */
  offer(message: unknown): void;
  /** Resolves when everything is written, the output is dead, or after `ms`. */
  flush(ms: number): Promise<void>;
}

/** Messages out, one a line, with a bound on what a client that doesn't read can make us keep. */
export function createWriter({ output, logger, limits = WRITER_LIMITS, onPressure, onDead }: WriterParts): Writer {
  let pending = 0;
  let high = false;
  let dead = false;
  let flushed: (() => void) | undefined;

  function die(reason: string): void {
    if (dead) return;
    dead = true;
    pending = 0;
    flushed?.();
    onDead(reason);
  }
  output.on('error', (error: Error) => die(error.message));
  output.on('close', () => die('the output was closed'));

  function written(bytes: number): void {
    if (dead) return;
    pending -= bytes;
    if (high && pending <= limits.relief_bytes) {
      high = false;
      onPressure(false);
    }
    if (pending === 0) flushed?.();
  }

  function write(line: string, bytes: number): void {
    if (pending + bytes > limits.limit_bytes) {
      logger.warn('the client does not read its answers; closing the connection', { pending_bytes: pending });
      die('the client does not read its answers');
      output.destroy();
      return;
    }
    pending += bytes;
    // A failed write also raises 'error', where it is dealt with.
    output.write(line, (error) => error ?? written(bytes));
    if (!high && pending > limits.stall_bytes) {
      high = true;
      onPressure(true);
    }
  }

  return {
    send(message) {
      if (dead) return true;
      let line: string;
      try {
        line = `${JSON.stringify(message)}\n`;
      } catch (error) {
        logger.error('an answer could not be written as JSON', { reason: error instanceof Error ? error.message : String(error) });
        return false;
      }
      const bytes = Buffer.byteLength(line);
      if (bytes > limits.message_bytes) {
        logger.error('an answer is too big to be sent', { bytes });
        return false;
      }
      write(line, bytes);
      return true;
    },
    offer(message) {
      if (dead || pending > DROP_ABOVE_BYTES) return;
      const line = `${JSON.stringify(message)}\n`;
      write(line, Buffer.byteLength(line));
    },
    flush(ms) {
      if (dead || pending === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        flushed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
