import type { Server, Socket } from 'node:net';
import { createClients } from '../network/clients.ts';
import type { Guard } from '../network/guard.ts';
import { createHttpProxy } from '../network/http-proxy.ts';
import type { Inlets } from '../network/inlets.ts';

/** The way out of one context. */
export interface Slot {
  /** The proxy as the browser names it. */
  readonly proxy: string;
  /** Ends its connections; the slot is free for the next context. */
  close(): void;
}

const IDLE_MS = 120_000;

/** Sockets inside the sandbox, one for each context: which context it is that asks is known by where it asks. */
export interface Slots {
  /** Undefined: all are taken. */
  open(guard: Guard): Slot | undefined;
  close(): void;
}

export function createSlots(inlets: Inlets): Slots {
  const free = [...inlets].map(([port, server]) => ({ port, server }));
  const serving = new Map<Server, (client: Socket) => void>();
  for (const { server } of free) {
    server.on('error', () => undefined);
    server.on('connection', (client) => {
      const serve = serving.get(server);
      if (serve) serve(client);
      else client.destroy();
    });
  }
  return {
    open(guard) {
      const slot = free.shift();
      if (slot === undefined) return undefined;
      const { port, server } = slot;
      const over = new AbortController();
      const clients = createClients(IDLE_MS);
      const http = createHttpProxy(async (host, port, signal) => {
        const dialled = await guard.dial(host, port, signal);
        if (dialled.type === 'connected') return dialled;
        return { type: dialled.type, text: `${dialled.type} ${host}:${port} (${dialled.reason})` };
      }, over.signal);
      serving.set(server, (client) => clients.admit(client, http));
      return {
        proxy: `http://127.0.0.1:${port}`,
        close() {
          if (over.signal.aborted) return;
          over.abort();
          serving.delete(server);
          clients.end();
          free.push(slot);
        },
      };
    },
    close() {
      for (const server of inlets.values()) server.close();
    },
  };
}
