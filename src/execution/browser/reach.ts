import type { Guard, GuardOptions } from '../network/guard.ts';
import { createGuard } from '../network/guard.ts';
import { type Host, readHost } from '../network/host-name.ts';
import type { Traffic } from './traffic.ts';

/** One named place: `host`, `*.host` (what is below it), an address; with `:port`, or for 80 and 443. */
export interface Place {
  readonly host: Exclude<Host, { kind: 'bad' }>;
  readonly below: boolean;
  readonly port: number | undefined;
}

const USUAL_PORTS: readonly number[] = [80, 443];
const LOOPBACK = '127.0.0.1';

/** A string says what is wrong with it. `localhost` is 127.0.0.1 here, whatever a resolver says. */
export function readPlace(text: string): Place | string {
  const below = text.startsWith('*.');
  const [, bracketed, named, portText] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(below ? text.slice(2) : text) ?? [];
  const host = readPlaceHost(bracketed ?? named ?? '');
  if (host.kind === 'bad') return host.reason;
  if (below && host.kind !== 'name') return 'only names have others below them';
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return `${portText} is not a port`;
  return { host, below, port };
}

function readPlaceHost(text: string): Host {
  const host = readHost(text);
  return host.kind === 'name' && host.name === 'localhost' ? { kind: 'address', address: LOOPBACK } : host;
}

/** Whether one of the places is this host at this port. */
export function isPlace(places: readonly Place[], text: string, port: number): boolean {
  const asked = readPlaceHost(text);
  return places.some(({ host, below, port: at }) => {
    if (at === undefined ? !USUAL_PORTS.includes(port) : at !== port) return false;
    if (host.kind === 'address') return asked.kind === 'address' && asked.address === host.address;
    if (asked.kind !== 'name') return false;
    return below ? asked.name.endsWith(`.${host.name}`) : asked.name === host.name;
  });
}

/** What the pages of one context may reach. */
export interface Reach {
  /** Every public address too, and not only the places. */
  readonly outside: boolean;
  /** Reached wherever they lead, since a person named them. Asked at each connection: a job that ended takes its port along. */
  places(): Promise<readonly Place[]>;
}

/** The one decision behind every connection of a context, made at the moment of dialling, and counted. */
export function createReachGuard(reach: Reach, traffic: Traffic, makeGuard: (options: GuardOptions) => Guard = createGuard): Guard {
  const open = makeGuard({});
  const guardFor = async (text: string, port: number): Promise<{ guard: Guard; host: string } | string> => {
    const host = readPlaceHost(text);
    if (host.kind === 'bad') return host.reason;
    const shown = host.kind === 'name' ? host.name : host.address;
    if (isPlace(await reach.places(), text, port)) return { guard: makeGuard({ allow: [{ host: shown, port }] }), host: shown };
    return reach.outside ? { guard: open, host: shown } : 'it is neither in browser.allow_hosts nor the port of a job';
  };
  return {
    async check(host, port = 443) {
      const found = await guardFor(host, port);
      return typeof found === 'string' ? { ok: false, cause: 'policy', reason: found } : found.guard.check(found.host, port);
    },
    async dial(host, port, signal) {
      const found = await guardFor(host, port);
      const dialled =
        typeof found === 'string' ? ({ type: 'refused', reason: found } as const) : await found.guard.dial(found.host, port, signal);
      traffic.note(typeof found === 'string' ? host : found.host, port, dialled);
      return dialled;
    },
  };
}
