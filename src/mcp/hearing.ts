import { isLogLevel, type LogLevel, reaches } from '../kernel/json-rpc/log-levels.ts';
import { isObject, type Members } from '../kernel/json-rpc/message.ts';
import type { Change, Foreign, ServerParts } from './types.ts';

/** What one client of the handshake revisions wants to hear between its requests. */
export interface Hearing {
  /** The least urgent log line that it wants; undefined while it hasn't said. */
  level(): LogLevel | undefined;
  setLevel(level: LogLevel): void;
  /** `resources/subscribe`: false where nobody has that resource. */
  watch(foreign: Foreign, uri: string, signal: AbortSignal): Promise<'watched' | 'unknown' | 'too_many'>;
  unwatch(uri: string): void;
  /** Where it hears it: one stream at a time, the last one. The function that it returns ends that. */
  listen(parts: Pick<ServerParts, 'onChange'>, tell: (message: Members) => void): () => void;
  close(): void;
}

/** Resources that one client watches. */
export const MAX_WATCHED = 1_000;

export function createHearing(): Hearing {
  const watched = new Map<string, () => void>();
  let least: LogLevel | undefined;
  let out: ((message: Members) => void) | undefined;
  let closed = false;

  return {
    level: () => least,
    setLevel(level) {
      least = level;
    },
    async watch(foreign, uri, signal) {
      if (watched.has(uri)) return 'watched';
      if (watched.size >= MAX_WATCHED) return 'too_many';
      const stop = await foreign.watch(uri, () => out?.(updated(uri)), signal);
      if (stop === undefined) return 'unknown';
      if (closed || watched.has(uri)) stop();
      else watched.set(uri, stop);
      return 'watched';
    },
    unwatch(uri) {
      watched.get(uri)?.();
      watched.delete(uri);
    },
    listen(parts, tell) {
      out = tell;
      const stop = parts.onChange?.((change) => {
        const message = about(change, least);
        if (message !== undefined) tell(message);
      });
      return () => {
        stop?.();
        if (out === tell) out = undefined;
      };
    },
    close() {
      closed = true;
      for (const stop of watched.values()) stop();
      watched.clear();
    },
  };
}

export function updated(uri: string, meta?: Members): Members {
  return {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri, ...(meta === undefined ? {} : { _meta: meta }) },
  };
}

/** Log lines that belong to no call go to those who said which they want. */
function about(change: Change, least: LogLevel | undefined): Members | undefined {
  if (change.type !== 'log') return { jsonrpc: '2.0', method: `notifications/${change.type}/list_changed` };
  if (least === undefined || !reaches(change.params['level'], least)) return undefined;
  return { jsonrpc: '2.0', method: 'notifications/message', params: change.params };
}

const META_LEVEL = 'io.modelcontextprotocol/logLevel';

/** What a request of 2026-07-28 says it wants of the log; without it, nothing may be sent. */
export function levelOfRequest({ _meta: meta }: Members): LogLevel | undefined {
  const level = isObject(meta) ? meta[META_LEVEL] : undefined;
  return isLogLevel(level) ? level : undefined;
}
