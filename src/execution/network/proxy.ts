import type { Socket } from 'node:net';
import type { NetworkUse } from '../types.ts';
import { createAllowList, type NetworkSpec } from './allow-list.ts';
import { createClients } from './clients.ts';
import { createEgress } from './egress.ts';
import { createGuard, type Guard, type GuardOptions } from './guard.ts';
import { createHttpProxy } from './http-proxy.ts';
import { createSocksProxy } from './socks-proxy.ts';
import { createTally } from './tally.ts';

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
  const clients = createClients(IDLE_MS);
  const leave = createEgress({ list, tally, guard: makeGuard({ allow: list.opened }) });

  const admit =
    (serve: (client: Socket) => void) =>
    (client: Socket): void =>
      clients.admit(client, serve);

  return {
    http: admit(createHttpProxy(leave, closing.signal)),
    socks: admit(createSocksProxy(leave, closing.signal)),
    use: () => tally.use(),
    hints: () => [...list.problems.map((problem) => `network: ${problem}`), ...tally.hints()],
    close() {
      closing.abort();
      clients.end();
    },
  };
}
