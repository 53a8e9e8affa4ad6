import type { NetworkUse } from '../types.ts';

/** Entries of each list; a run that asks for more hosts is counted, not listed. */
const MAX_ENTRIES = 100;

export interface Tally {
  /** A connection that was allowed. Its numbers are read when they are asked for. */
  open(host: string, port: number, socket: { readonly bytesRead: number; readonly bytesWritten: number }): void;
  /** Allowed, but nobody answered. */
  failed(host: string, port: number, reason: string): void;
  /** `how`: what to do about it. */
  refused(host: string, port: number, reason: string, how: string): void;
  use(): NetworkUse;
  /** One sentence each, for the model. */
  hints(): readonly string[];
}

interface Count {
  readonly host: string;
  readonly port: number;
  connections: number;
  reason: string | undefined;
  how: string;
  readonly sockets: { readonly bytesRead: number; readonly bytesWritten: number }[];
  sent: number;
  received: number;
  failed: number;
}

/** More live sockets than the proxy serves at once are never kept. */
const MAX_SOCKETS = 256;
const MAX_HINTS = 8;

/** Who was reached and who was refused, for the record of a run. */
export function createTally(): Tally {
  const allowed = new Map<string, Count>();
  const turnedAway = new Map<string, Count>();
  let omitted = 0;

  const countFor = (list: Map<string, Count>, host: string, port: number): Count | undefined => {
    const key = `${host}:${port}`;
    const known = list.get(key);
    if (known) return known;
    if (list.size >= MAX_ENTRIES) {
      omitted += 1;
      return undefined;
    }
    const fresh: Count = { host, port, connections: 0, reason: undefined, how: '', sockets: [], sent: 0, received: 0, failed: 0 };
    list.set(key, fresh);
    return fresh;
  };

  /** Counts kept as numbers once there are many sockets. */
  const fold = (count: Count): void => {
    for (const socket of count.sockets.splice(0)) {
      count.sent += socket.bytesWritten;
      count.received += socket.bytesRead;
    }
  };

  return {
    open(host, port, socket) {
      const count = countFor(allowed, host, port);
      if (!count) return;
      count.connections += 1;
      count.sockets.push(socket);
      if (count.sockets.length > MAX_SOCKETS) {
        const [oldest] = count.sockets.splice(0, 1);
        count.sent += oldest?.bytesWritten ?? 0;
        count.received += oldest?.bytesRead ?? 0;
      }
    },
    failed(host, port, reason) {
      const count = countFor(allowed, host, port);
      if (!count) return;
      count.failed += 1;
      count.reason = reason;
    },
    refused(host, port, reason, how) {
      const count = countFor(turnedAway, host, port);
      if (!count) return;
      count.connections += 1;
      count.reason = reason;
      count.how = how;
    },
    use() {
      return {
        allowed: [...allowed.values()].map((count) => {
          fold(count);
          const { host, port, connections, failed, sent, received } = count;
          return { host, port, connections, failed, bytes_sent: sent, bytes_received: received };
        }),
        refused: [...turnedAway.values()].map(({ host, port, connections, reason }) => ({ host, port, connections, reason: reason ?? '' })),
        omitted,
      };
    },
    hints() {
      const refusals = [...turnedAway.values()].map(
        ({ host, port, reason, how }) => `network: refused ${host}:${port} (${reason ?? 'not allowed'}); ${how}`,
      );
      const failures = [...allowed.values()]
        .filter(({ connections, failed }) => failed > 0 && connections === 0)
        .map(({ host, port, reason }) => `network: ${host}:${port} is allowed but could not be reached (${reason ?? 'no answer'})`);
      const all = [...refusals, ...failures];
      const more = all.length - MAX_HINTS;
      return more > 0 ? [...all.slice(0, MAX_HINTS), `network: ${more} more hosts were refused or could not be reached`] : all;
    },
  };
}
