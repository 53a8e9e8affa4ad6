import type { Socket } from 'node:net';

/** At a time; one more is closed at once. */
const MAX_CLIENTS = 128;

/** Connections from inside of a sandbox to something of ours. */
export interface Clients {
  /** Serves it, or closes it where there are too many. */
  admit(client: Socket, serve: (client: Socket) => void): void;
  /** Ends all of them; no more are admitted. */
  end(): void;
}

/** `idle_ms`: whoever says nothing for so long is not kept. */
export function createClients(idle_ms: number): Clients {
  const clients = new Set<Socket>();
  let over = false;
  return {
    admit(client, serve) {
      if (over || clients.size >= MAX_CLIENTS) {
        client.destroy();
        return;
      }
      clients.add(client);
      // Either side may close first.
      client.allowHalfOpen = true;
      client.setTimeout(idle_ms, () => client.destroy());
      client.on('close', () => clients.delete(client));
      serve(client);
    },
    end() {
      over = true;
      for (const client of clients) client.destroy();
    },
  };
}
