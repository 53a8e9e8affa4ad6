import type { JsonObject } from '../types.ts';

/** What a carrier tells about what comes in. */
export interface CarrierEvents {
  message(message: unknown): void;
  /** One line or event that isn't a message; it is skipped and counted, never a reason to end. */
  noise(what: 'not_json' | 'not_utf8', sample: string): void;
  /** Nothing comes or goes any more. Said once. */
  closed(reason: string): void;
}

export interface SendOptions {
  /** Of the request that this message is; where each has a stream of its own, that stream ends with it. */
  readonly signal?: AbortSignal;
  /** Beside those of the carrier, where messages have headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Takes whole JSON-RPC messages to an upstream and back: lines over standard streams, or HTTP. */
export interface Carrier {
  readonly type: 'stdio' | 'http' | 'sse';
  start(events: CarrierEvents): Promise<void>;
  /** Resolves when it is on its way. A rejection says that there can be no answer to it, with an AppError: `outcome_unknown` where it may have been read. */
  send(message: JsonObject, options?: SendOptions): Promise<void>;
  /** What was agreed on, for headers. */
  speak(revision: string): void;
  close(): Promise<void>;
}
