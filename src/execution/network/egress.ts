import type { Socket } from 'node:net';
import type { AllowList } from './allow-list.ts';
import type { Guard } from './guard.ts';
import { readHost } from './host-name.ts';
import type { Tally } from './tally.ts';

export type Egress =
  | { readonly type: 'connected'; readonly socket: Socket }
  /** `text`: one sentence that names the host and how to ask. */
  | { readonly type: 'refused' | 'failed'; readonly text: string };

export type Leave = (host: string, port: number, signal: AbortSignal) => Promise<Egress>;

/** The one decision behind every way out of a run: on its list, then judged by the guard at the moment of dialling, and counted. */
export function createEgress(parts: { readonly list: AllowList; readonly guard: Guard; readonly tally: Tally }): Leave {
  const { list, guard, tally } = parts;
  return async (text, port, signal) => {
    const host = readHost(text);
    const shown = host.kind === 'name' ? host.name : host.kind === 'address' ? host.address : 'a host that can not be read';
    const refuse = (reason: string, how: string): Egress => {
      tally.refused(shown, port, reason, how);
      return { type: 'refused', text: `refused ${shown}:${port} (${reason}); ${how}` };
    };
    if (host.kind === 'bad') return refuse(host.reason, 'name a host');
    if (!list.allows(host, port)) return refuse('not in the allow-list', 'ask by naming it in the command');
    const dialled = await guard.dial(shown, port, signal);
    if (dialled.type === 'refused') return refuse(dialled.reason, 'where that is meant, ask by naming the address too');
    if (dialled.type === 'failed') {
      tally.failed(shown, port, dialled.reason);
      return { type: 'failed', text: `${shown}:${port} could not be reached (${dialled.reason})` };
    }
    tally.open(shown, port, dialled.socket);
    return { type: 'connected', socket: dialled.socket };
  };
}
