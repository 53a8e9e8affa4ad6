import type { Readable, Writable } from 'node:stream';

/** Messages of the DevTools protocol over two pipes, as JSON with a NUL after each: what Playwright takes as a transport. */
export interface BrowserTransport {
  send(message: object): void;
  close(): void;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
}

/** A screenshot or a page's text comes in one message; a page that is longer ends the browser, and with it every other page. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** What the browser hasn't taken yet; one that takes nothing any more is ended. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
const GONE = 'the browser is gone';

/**
 * `broken`: it said something that is no message, or stopped listening; the pipes are of no more use. Each message has a turn of the event
 * loop to itself: Playwright begins to listen for what follows an answer only once the promise of that answer has run on, and would miss
 * what came with it, such as a frame's contexts, for ever.
 */
export function createPipeTransport(input: Readable, output: Writable, broken: (why: string) => void): BrowserTransport {
  let over = false;
  let pending: Buffer[] = [];
  let size = 0;
  /** Whole messages of one chunk; no more is read until they are through. */
  let ready: string[] = [];
  const end = (reason: string): void => {
    if (over) return;
    over = true;
    pending = [];
    ready = [];
    transport.onclose?.(reason);
  };
  const fail = (why: string): void => {
    if (over) return;
    broken(why);
    end(why);
  };
  const deliver = (text: string): void => {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      fail('it sent a message that is no JSON');
      return;
    }
    if (typeof message === 'object' && message !== null) transport.onmessage?.(message);
  };
  const deliverNext = (): void => {
    const text = ready.shift();
    if (text === undefined) {
      if (input.closed) end(GONE);
      else input.resume();
      return;
    }
    setImmediate(deliverNext);
    deliver(text);
  };
  const transport: BrowserTransport = {
    send(message) {
      if (over) return;
      output.write(`${JSON.stringify(message)}\0`);
      if (output.writableLength > MAX_UNSENT_BYTES) fail('it stopped reading');
    },
    close() {
      output.end();
    },
  };
  input.on('data', (chunk: Buffer) => {
    if (over) return;
    let start = 0;
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, start)) {
      pending.push(chunk.subarray(start, at));
      ready.push(Buffer.concat(pending).toString('utf8'));
      pending = [];
      size = 0;
      start = at + 1;
    }
    const rest = chunk.subarray(start);
    size += rest.length;
    if (rest.length > 0) pending.push(rest);
    if (size > MAX_MESSAGE_BYTES) fail('a message of it is too long');
    if (ready.length === 0) return;
    input.pause();
    setImmediate(deliverNext);
  });
  for (const stream of [input, output]) stream.on('error', () => end(GONE));
  // What it said last is heard first.
  input.on('close', () => {
    if (ready.length === 0) end(GONE);
  });
  return transport;
}
