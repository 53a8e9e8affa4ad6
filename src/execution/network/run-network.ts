import type { Server } from 'node:net';
import type { NetworkUse } from '../types.ts';
import type { Guard, GuardOptions } from './guard.ts';
import { closeInlets, HTTP_PROXY_PORT, type Inlets, type NetworkPlan, PARKING_PORT, SOCKS_PROXY_PORT } from './inlets.ts';
import { createProxy } from './proxy.ts';
import { createOutlet, relayInward } from './relay.ts';

/** The network of one run, served by its supervisor while it goes on. */
export interface RunNetwork {
  /** Undefined where no allow-list was open. */
  use(): NetworkUse | undefined;
  hints(): readonly string[];
  close(): void;
}

export function openNetwork(parts: {
  readonly plan: NetworkPlan | undefined;
  readonly inlets: Inlets;
  /** Listening on the host, one for each of `plan.ports`. */
  readonly published: ReadonlyMap<number, Server>;
  readonly makeGuard?: (options: GuardOptions) => Guard;
}): RunNetwork {
  const { plan, inlets, published } = parts;
  const closing = new AbortController();
  const proxy = plan?.allow === undefined ? undefined : createProxy(plan.allow, parts.makeGuard);
  const outlet = createOutlet(closing.signal);
  // A connection that can't be accepted (no descriptors left) is lost to whoever made it, and no end of the runner.
  for (const server of [...inlets.values(), ...published.values()]) server.on('error', () => undefined);
  if (proxy) {
    inlets.get(HTTP_PROXY_PORT)?.on('connection', proxy.http);
    inlets.get(SOCKS_PROXY_PORT)?.on('connection', proxy.socks);
  }
  for (const port of plan?.loopback ?? []) inlets.get(port)?.on('connection', relayInward(port, closing.signal));
  inlets.get(PARKING_PORT)?.on('connection', outlet.park);
  for (const [port, server] of published) server.on('connection', outlet.serve(port));
  return {
    use: () => proxy?.use(),
    hints: () => proxy?.hints() ?? [],
    close() {
      closing.abort();
      closeInlets(inlets);
      closeInlets(published);
      proxy?.close();
    },
  };
}
