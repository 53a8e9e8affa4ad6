import { isIP } from 'node:net';
import { notPublic } from './address-ranges.ts';
import type { Opened } from './guard.ts';
import { type Host, readHost } from './host-name.ts';
import { PRESETS } from './presets.ts';

/** What a run may reach: `name`, `*.name` (what is below it, not itself), `1.2.3.4`, each with `:port` or with the default ports. */
export interface NetworkSpec {
  readonly hosts: readonly string[];
  /** Words of presets.ts. */
  readonly presets: readonly string[];
  /**
   * Hosts that a preset means on this machine: the registries of the person's own configuration. They were chosen by a person and not in
   * a command, so that each is opened wherever it leads to, be it inside.
   */
  readonly own?: readonly string[];
}

export interface AllowList {
  allows(host: Host, port: number): boolean;
  /** Addresses that were named themselves, and are not public: they are opened for the guard, a name never opens one. */
  readonly opened: readonly Opened[];
  /** What was asked for and can't be given, in words. */
  readonly problems: readonly string[];
}

/** HTTP, HTTPS and ssh (git). Any other port is opened only where it was named. */
const DEFAULT_PORTS: readonly number[] = [80, 443, 22];

interface Entry {
  readonly host: Exclude<Host, { kind: 'bad' }>;
  /** Hosts below it, in place of itself. */
  readonly below: boolean;
  readonly port: number | undefined;
}

export function createAllowList(spec: NetworkSpec): AllowList {
  const problems: string[] = [];
  const entries: Entry[] = [];
  const add = (text: string): void => {
    const entry = readEntry(text);
    if (typeof entry === 'string') problems.push(`"${text.slice(0, 80)}" was not opened: ${entry}`);
    else entries.push(entry);
  };
  for (const text of [...spec.hosts, ...(spec.own ?? [])]) add(text);
  for (const preset of spec.presets) {
    const hosts = Object.hasOwn(PRESETS, preset) ? PRESETS[preset] : undefined;
    if (hosts === undefined || hosts.length === 0)
      problems.push(`no hosts are known for "${preset.slice(0, 80)}"; name them in the command`);
    for (const text of hosts ?? []) add(text);
  }
  return {
    allows: (host, port) =>
      entries.some((entry) => (entry.port === undefined ? DEFAULT_PORTS.includes(port) : entry.port === port) && matches(entry, host)),
    opened: [
      ...(spec.own ?? []).flatMap(ownOpening),
      ...entries.flatMap(({ host, port }) => {
        if (host.kind !== 'address' || notPublic(host.address) === undefined) return [];
        return (port === undefined ? DEFAULT_PORTS : [port]).map((one): Opened => ({ host: host.address, port: one }));
      }),
    ],
    problems,
  };
}

function ownOpening(text: string): readonly Opened[] {
  const entry = readEntry(text);
  if (typeof entry === 'string' || entry.host.kind !== 'name' || entry.below) return [];
  const { name } = entry.host;
  return (entry.port === undefined ? DEFAULT_PORTS : [entry.port]).map((port) => ({ host: name, port }));
}

function matches({ host, below }: Entry, asked: Host): boolean {
  if (host.kind === 'address') return asked.kind === 'address' && asked.address === host.address;
  if (asked.kind !== 'name') return false;
  return below ? asked.name.endsWith(`.${host.name}`) : asked.name === host.name;
}

/** A string says what is wrong with it. */
function readEntry(text: string): Entry | string {
  const below = text.startsWith('*.');
  const rest = below ? text.slice(2) : text;
  const [, bracketed, named, portText] = isIP(rest) === 6 ? ['', rest] : (/^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(rest) ?? []);
  const host = readHost(bracketed ?? named ?? '');
  if (host.kind === 'bad') return host.reason;
  if (below && (host.kind !== 'name' || !host.name.includes('.'))) return 'a pattern needs a name of at least two parts after the star';
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return `${portText} is not a port`;
  if (host.kind === 'address') {
    const what = notPublic(host.address);
    // Inside, these are the run's own; outside, this machine is opened by `sandbox.loopback` only.
    if (what !== undefined && /loopback|this host|multicast/.test(what)) return `${host.address} is ${what}`;
  }
  return { host, below, port };
}
