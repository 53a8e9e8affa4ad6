import { type Contact, isPlace, readPlace } from '../../execution/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { type OpenPlaces, portOf } from './places.ts';

/** What was asked for and must not be connected to. */
export function notConnected({ host, port, reason }: Contact, data: Record<string, unknown>): AppError {
  return new AppError('denied_by_policy', `${host}:${port} was not connected to: ${reason ?? 'it is refused'}.`, {
    fix: `Where that is meant, the operator adds "${host}:${port}" to browser.allow_hosts.`,
    data,
  });
}

/** Whether that is where this address leads. */
export function isAt(address: string, { host, port }: Contact): boolean {
  const url = URL.parse(address);
  const place = readPlace(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
  return url !== null && typeof place !== 'string' && isPlace([place], url.hostname, portOf(url));
}

const MAX_REFUSALS = 8;

export function refusals(contacts: readonly Contact[]): readonly string[] {
  const barred = contacts.filter(({ refused }) => refused > 0);
  const lines = barred.map(
    ({ host, port, refused, reason }) => `${refused} connections to ${host}:${port} were refused (${reason ?? 'not open'})`,
  );
  const more = lines.length - MAX_REFUSALS;
  return more > 0 ? [...lines.slice(0, MAX_REFUSALS), `connections to ${more} more hosts were refused`] : lines;
}

/** Where text of the page came from. What a job of this agent serves is its own output. */
export async function originsOf(hosts: readonly string[], places: OpenPlaces): Promise<readonly string[]> {
  const origins: string[] = [];
  for (const host of hosts) {
    const url = URL.parse(`http://${host}/`);
    if (url === null || !(await places.isJob(url.hostname, portOf(url)))) origins.push(`web:${host}`);
  }
  return origins;
}
