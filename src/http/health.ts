import type { ServerResponse } from 'node:http';

/** `failed` keeps the server up: the other parts work. */
export type PartState = 'starting' | 'ready' | 'failed';

export interface Health {
  set(part: string, state: PartState): void;
  /** `/healthz`: this process answers. */
  alive(response: ServerResponse): void;
  /** `/readyz`: which parts are ready, at once and without asking them. 503 while one that must be is not. */
  ready(response: ServerResponse): void;
}

/**
 * Whoever can reach the port may ask, so states and no reasons are given. `needed`: without these nothing can be served; of any other
 * part it is only told.
 */
export function createHealth(needed: readonly string[], others: readonly string[]): Health {
  const parts = new Map<string, PartState>([...needed, ...others].map((part) => [part, 'starting']));
  return {
    set: (part, state) => void parts.set(part, state),
    alive: (response) => sendJson(response, 200, { status: 'ok' }),
    ready(response) {
      const ready = needed.every((part) => parts.get(part) === 'ready');
      sendJson(response, ready ? 200 : 503, { ready, parts: Object.fromEntries(parts) });
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
