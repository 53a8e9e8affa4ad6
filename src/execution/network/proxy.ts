import type { Socket } from 'node:net';
import type { NetworkUse } from '../types.ts';
import { createAllowList, type NetworkSpec } from './allow-list.ts';
import { createEgress } from './egress.ts';
import { createGuard, type Guard, type GuardOptions } from './guard.ts';
import { createHttpProxy } from './http-proxy.ts';
import { createSocksProxy } from './socks-proxy.ts';
import { createTally } from './tally.ts';

/** Connections of one run at a time; one more is closed at once. */
const MAX_CLIENTS = 128;

const IDLE_MS = 600_000;

export interface RunProxy {
  /** Serves connections from inside the run. */
  http(client: Socket): void;
  socks(client: Socket): void;
  use(): NetworkUse;
  hints(): readonly string[];
  /** Ends every connection. */
  close(): void;
}

/** The allow-list proxy of one run. Whoever reaches its two entrances is that run: there is nothing to authenticate. */
export function createProxy(spec: NetworkSpec, makeGuard: (options: GuardOptions) => Guard = createGuard): RunProxy {
  const list = createAllowList(spec);
  const tally = createTally();
  const closing = new AbortController();
  const clients = new Set<Socket>();
  const leave = createEgress({ list, tally, guard: makeGuard({ allow: list.opened }) });

  const admit =
    (serve: (client: Socket) => void) =>
    (client: Socket): void => {
      if (closing.signal.aborted || clients.size >= MAX_CLIENTS) {
        client.destroy();
        return;
      }
      clients.add(client);
      // Either side may close first, and whoever says nothing at all is not kept.
      client.allowHalfOpen = true;
      client.setTimeout(IDLE_MS, () => client.destroy());
      client.on('close', () => clients.delete(client));
      serve(client);
    };

  return {
    http: admit(createHttpProxy(leave, closing.signal)),
    socks: admit(createSocksProxy(leave, closing.signal)),
    use: () => tally.use(),
    hints: () => [...list.problems.map((problem) => `network: ${problem}`), ...tally.hints()],
    close() {
      closing.abort();
      for (const client of clients) client.destroy();
    },
  };
}
