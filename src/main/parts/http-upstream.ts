import { Readable } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher, fetch, request } from 'undici';
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
    fetch: async (url, init) =>
      (await post(url, init, agent)) ?? ((await fetch(url, { ...(init as object), dispatcher: agent })) as unknown as Response),
    async close() {
      over.abort();
      await agent.destroy();
    },
  };
}

/** An answer of so many bytes is read whole before it is passed on. */
const WHOLE_BYTES = 1024 * 1024;

/**
 * The request that every call makes, without the machinery of fetch, which costs as much as all the rest of it: a text is posted, and
 * redirects are for whoever asked. Undefined: it is for fetch. The answer is that of fetch, but it is never unpacked, as nothing packed is
 * asked for.
 */
async function post(url: string | URL, init: RequestInit | undefined, dispatcher: Dispatcher): Promise<Response | undefined> {
  if (init?.method !== 'POST' || typeof init.body !== 'string' || init.redirect !== 'manual') return undefined;
  const { signal, body: text } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  const answer = await request(url, { method: 'POST', headers, body: text, dispatcher, ...(signal ? { signal } : {}) });
  const said = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) said.append(name, one);
  }
  const facts = { status: answer.statusCode, headers: said };
  if (NO_BODY.includes(answer.statusCode)) {
    await answer.body.dump();
    return new Response(null, facts);
  }
  if (!said.get('content-type')?.startsWith('application/json') || !(Number(said.get('content-length') ?? Number.NaN) <= WHOLE_BYTES)) {
    return new Response(Readable.toWeb(answer.body) as ReadableStream<Uint8Array>, facts);
  }
  // A Response would make a stream of it first.
  const whole = await answer.body.text();
  return Object.assign(new Response(null, facts), { text: async () => whole, json: async () => JSON.parse(whole) as unknown });
}
/** A Response of these may have none. */
const NO_BODY = [204, 205, 304];

/** Reaches an upstream over HTTP. */
export function openHttpUpstream({ login, ...parts }: HttpUpstreamParts): Carrier {
  const way = openWay([parts.url, ...(login?.addresses ?? [])]);
  const fetch = login === undefined ? way.fetch : authorizedFetch(way.fetch, new URL(parts.url).origin, login.open(way.fetch));
  return createHttpCarrier({ ...parts, fetch, close: way.close });
}
