import type { Dialled } from '../network/guard.ts';

/** One host and port, since it was last asked. */
export interface Contact {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Not connected to, and the last reason why. */
  readonly refused: number;
  readonly failed: number;
  readonly reason?: string;
}

/** Who was connected to and who was refused. */
export interface Traffic {
  note(host: string, port: number, dialled: Dialled): void;
  /** Everything since the last call. `omitted`: connections to hosts that the list had no room for. */
  take(): { readonly contacts: readonly Contact[]; readonly omitted: number };
}

/** Hosts told apart between two looks. */
const MAX_CONTACTS = 100;

export function createTraffic(): Traffic {
  const contacts = new Map<string, Contact>();
  let omitted = 0;
  return {
    note(host, port, dialled) {
      const key = `${host}:${port}`;
      const before = contacts.get(key);
      if (before === undefined && contacts.size >= MAX_CONTACTS) {
        omitted += 1;
        return;
      }
      const { connections, refused, failed } = before ?? { connections: 0, refused: 0, failed: 0 };
      contacts.set(key, {
        host,
        port,
        connections: connections + (dialled.type === 'connected' ? 1 : 0),
        refused: refused + (dialled.type === 'refused' ? 1 : 0),
        failed: failed + (dialled.type === 'failed' ? 1 : 0),
        ...(dialled.type === 'connected' ? {} : { reason: dialled.reason }),
      });
    },
    take() {
      const taken = { contacts: [...contacts.values()], omitted };
      contacts.clear();
      omitted = 0;
      return taken;
    },
  };
}
