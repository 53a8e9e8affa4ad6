import type { ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { failure, INTERNAL_ERROR } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Answer, Outlet } from '../connection.ts';
import type { Flight } from '../in-flight.ts';
import { TOO_BIG } from '../stdio.ts';
import type { Hold } from './body.ts';

/** One message; clients have bounds too. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** More unread than this and progress is dropped. */
const DROP_ABOVE_BYTES = 64 * 1024;
/** Clients and proxies give up on a response that stays silent (undici after 300 s). With a tick every 5 s it is never silent for 15 s. */
const SILENT_MS = 10_000;
/** A client that takes nothing of what is ready for it for this long is taken for dead. */
const STALLED_MS = 30_000;

const SSE_HEAD = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  // nginx and its kind would hold events back.
  'x-accel-buffering',
  'no',
];

/** The answering side of one HTTP request: one JSON text; or, from the first message before the answer on, a stream of events. */
export interface Exchange extends Outlet {
  /** The whole answer, on a stream its last event. Undefined: the message was accepted and nothing is due. */
  answer(answer: Answer, status: number, headers?: readonly string[]): void;
  /** Begins a stream that nothing has been said on yet. */
  open(): void;
  /** Ends a stream without an answer. */
  end(): void;
  /** Cuts the connection. */
  cut(): void;
  /** To be called once when the response is over, however it ended. */
  closed(): void;
  /** To be called every 5 s: says something on a silent response, and looks for a client that doesn't read. */
  tick(): void;
}

interface ExchangeParts {
  readonly response: ServerResponse;
  /** What this agent makes us keep. */
  readonly hold: Hold;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly stalled_ms?: number;
  started(flight: Flight): void;
}

export function createExchange({ response, hold, logger, clock, started, stalled_ms = STALLED_MS }: ExchangeParts): Exchange {
  let streaming = false;
  let spokeAt = clock.monotonic();
  let watched = false;
  /** Of this response in `hold`. */
  let held = 0;

  const over = (): boolean => response.writableEnded || response.destroyed;

  /** Undefined: it can't be written as JSON, or is too big. */
  function encode(message: unknown): string | undefined {
    try {
      const text = JSON.stringify(message);
      if (text.length * 3 <= MAX_MESSAGE_BYTES || Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
      logger.error('an answer is too big to be sent', { length: text.length });
    } catch (error) {
      logger.error('an answer could not be written as JSON', { reason: error instanceof Error ? error.message : String(error) });
    }
    return undefined;
  }

  /** Whether there is room; a client that lets its room fill up is cut off. */
  function keep(bytes: number): boolean {
    const unread = response.writableLength;
    hold.bytes += unread + bytes - held;
    held = unread + bytes;
    if (hold.bytes <= hold.max) return true;
    logger.warn('a client does not read its answers; cutting its connection', { held: hold.bytes });
    response.destroy();
    return false;
  }

  function begin(): void {
    if (streaming) return;
    streaming = true;
    response.writeHead(200, SSE_HEAD);
  }

  function event(text: string): boolean {
    if (!keep(text.length)) return false;
    begin();
    spokeAt = clock.monotonic();
    response.write(`event: message\ndata: ${text}\n\n`);
    return true;
  }

  function answer(what: Answer, status: number, headers: readonly string[] = []): void {
    if (over()) return;
    if (what === undefined) {
      if (!streaming) response.writeHead(202, [...headers, 'content-length', '0']);
      response.end();
      return;
    }
    const text = encode(what);
    if (text === undefined) {
      const id = 'id' in what ? { id: what['id'] } : {};
      answer({ jsonrpc: '2.0', ...id, ...failure(INTERNAL_ERROR, TOO_BIG) }, status, headers);
    } else if (streaming) {
      if (event(text)) response.end();
    } else if (keep(text.length)) {
      response.writeHead(status, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text)), ...headers]);
      response.end(text);
    }
  }

  return {
    answer,
    socket: response.socket ?? undefined,
    send(message) {
      if (over()) return false;
      const text = encode(message);
      return text !== undefined && event(text);
    },
    offer(message) {
      if (over() || response.writableLength > DROP_ABOVE_BYTES) return;
      const text = encode(message);
      if (text !== undefined) event(text);
    },
    started,
    open() {
      if (over()) return;
      begin();
      response.flushHeaders();
    },
    end() {
      if (over()) return;
      begin();
      response.end();
    },
    cut: () => void response.destroy(),
    closed() {
      hold.bytes -= held;
      held = 0;
    },
    tick() {
      if (response.destroyed) return;
      const unread = response.writableLength;
      if (unread > 0 && !watched) {
        watched = true;
        // The socket's own timer knows of parts of a write that were taken.
        response.setTimeout(stalled_ms, () => {
          if (response.writableLength === 0) return;
          logger.warn('a client does not take its answer; cutting its connection', { unread: response.writableLength });
          response.destroy();
        });
      }
      if (over() || unread > 0 || clock.monotonic() - spokeAt < SILENT_MS) return;
      begin();
      spokeAt = clock.monotonic();
      response.write(':\n\n');
    },
  };
}
