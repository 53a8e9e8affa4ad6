import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch } from 'undici';
import { createConnector, createGuard } from '../../execution/index.ts';
import { authorizedFetch, type Carrier, createHttpCarrier, type HttpCarrierParts, type LiveLogin } from '../../upstreams/index.ts';

/** How the requests to a server get its login. */
export interface LoginWay {
  /** Beside the server's own. */
  readonly addresses: readonly string[];
  open(fetch: FetchLike): LiveLogin;
}

export interface HttpUpstreamParts extends Omit<HttpCarrierParts, 'fetch' | 'close'> {
  readonly login?: LoginWay;
}

export interface Way {
  readonly fetch: FetchLike;
  close(): Promise<void>;
}

/** Addresses that are named in the configuration are opened; wherever else they lead to must be public. */
export function openWay(addresses: readonly string[]): Way {
  const over = new AbortController();
  const allow = addresses.map((address) => {
    const { hostname, port, protocol } = new URL(address);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  });
  const agent = new Agent({
    connect: createConnector(createGuard({ allow }), over.signal),
    connections: 64,
    // Streams may be silent for as long as they like; every request has a deadline of its own.
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  return {
    fetch: async (url, init) => (await fetch(url, { ...(init as object), dispatcher: agent })) as unknown as Response,
    async close() {
      over.abort();
      await agent.destroy();
    },
  };
}

/** Reaches an upstream over HTTP. */
export function openHttpUpstream({ login, ...parts }: HttpUpstreamParts): Carrier {
  const way = openWay([parts.url, ...(login?.addresses ?? [])]);
  const fetch = login === undefined ? way.fetch : authorizedFetch(way.fetch, new URL(parts.url).origin, login.open(way.fetch));
  return createHttpCarrier({ ...parts, fetch, close: way.close });
}
