import { Agent, fetch } from 'undici';
import { createConnector, createGuard } from '../../execution/index.ts';
import { type Carrier, createHttpCarrier, type HttpCarrierParts } from '../../upstreams/index.ts';

export type HttpUpstreamParts = Omit<HttpCarrierParts, 'fetch' | 'close'>;

/** Reaches an upstream over HTTP. Its own address is opened as the configuration names it; wherever else it leads to must be public. */
export function openHttpUpstream(parts: HttpUpstreamParts): Carrier {
  const { hostname, port, protocol } = new URL(parts.url);
  const own = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  const over = new AbortController();
  const agent = new Agent({
    connect: createConnector(createGuard({ allow: [own] }), over.signal),
    connections: 64,
    // Streams may be silent for as long as they like; every request has a deadline of its own.
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  return createHttpCarrier({
    ...parts,
    fetch: async (url, init) => (await fetch(url, { ...(init as object), dispatcher: agent })) as unknown as Response,
    async close() {
      over.abort();
      await agent.destroy();
    },
  });
}
