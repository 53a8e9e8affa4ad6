import type { Opening } from '../policy/types.ts';

/** A person may type hosts: names, `*.name`, each with a port or not. What they mean is the network guard's business. */
const HOST = /^(\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?(:\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?$/;
const MOST_HOSTS = 100;

type Hosts = Extract<Opening, { type: 'hosts' }>;

/**
 * What a person left of what was offered, or undefined when it is more: a path as it was or for reading instead of writing, other
 * hosts in place of hosts (a person knows better than argv which ones), no preset and nothing uncontained that wasn't there.
 * `shown` is what stood on the card, where a path may be masked; what it stands for is taken from `offered`.
 */
export function leftOpen(
  asked: readonly Opening[] | undefined,
  shown: readonly Opening[],
  offered: readonly Opening[],
): readonly Opening[] | undefined {
  if (asked === undefined) return offered;
  const left: Opening[] = [];
  for (const opening of asked) {
    const match = within(opening, shown, offered);
    if (match === undefined) return undefined;
    left.push(match);
  }
  return left;
}

function within(opening: Opening, shown: readonly Opening[], offered: readonly Opening[]): Opening | undefined {
  switch (opening.type) {
    case 'hosts': {
      const from = offered.find((one): one is Hosts => one.type === 'hosts');
      const fits = opening.hosts.length <= MOST_HOSTS && opening.hosts.every((host) => HOST.test(host));
      return from && fits && opening.presets.every((preset) => from.presets.includes(preset))
        ? { type: 'hosts', hosts: opening.hosts, presets: opening.presets }
        : undefined;
    }
    case 'path': {
      const at = shown.findIndex((one) => one.type === 'path' && one.path === opening.path && covers(one.access, opening.access));
      const from = offered[at];
      return from?.type === 'path' ? { type: 'path', path: from.path, access: opening.access } : undefined;
    }
    case 'uncontained':
      return offered.find((one) => one.type === 'uncontained');
  }
}

function covers(had: 'read' | 'write', wanted: 'read' | 'write'): boolean {
  return had === 'write' || wanted === 'read';
}

/** Whether everything in `wanted` is also in `allowed`, literally. */
export function isWithin(wanted: readonly Opening[], allowed: readonly Opening[]): boolean {
  return wanted.every((opening) => isAllowed(opening, allowed));
}

function isAllowed(opening: Opening, allowed: readonly Opening[]): boolean {
  switch (opening.type) {
    case 'hosts': {
      const from = allowed.filter((one): one is Hosts => one.type === 'hosts');
      return (
        opening.hosts.every((host) => from.some(({ hosts }) => hosts.includes(host))) &&
        opening.presets.every((preset) => from.some(({ presets }) => presets.includes(preset)))
      );
    }
    case 'path':
      return allowed.some((one) => one.type === 'path' && one.path === opening.path && covers(one.access, opening.access));
    case 'uncontained':
      return allowed.some((one) => one.type === 'uncontained');
  }
}
