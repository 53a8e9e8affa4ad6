import type { IncomingMessage } from 'node:http';
import { type Rejection, rejection } from './rejection.ts';

export interface Doors {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const WILDCARD = '*/*';
/** Said like this by nearly every client. */
const BOTH = 'application/json, text/event-stream';

/**
 * DNS rebinding: a web page whose name suddenly means this machine still sends its own name as `Host`, and its own `Origin`. A program
 * sends no `Origin` at all.
 */
export function refuseForeign(request: IncomingMessage, doors: Doors): Rejection | undefined {
  const { host, origin } = request.headers;
  if (host === undefined || hostsOf(request) !== 1 || !doors.hosts.has(nameOf(host))) {
    return rejection(403, 'This server does not answer to that Host');
  }
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}` || doors.origins.has(origin)) return undefined;
  return rejection(403, 'Requests from that Origin are not allowed');
}

/** Two `Host` headers, of which node shows the first, would mean two things to two readers. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

function nameOf(host: string): string {
  const port = host.lastIndexOf(':');
  // An IPv6 address is in brackets and full of colons.
  return (port > host.lastIndexOf(']') ? host.slice(0, port) : host).toLowerCase();
}

/** What a POST must bring: JSON, not packed, and a client that takes both kinds of answers, as every revision demands. */
export function refuseKind({ headers }: IncomingMessage): Rejection | undefined {
  const type = headers['content-type'] ?? '';
  if (type !== 'application/json' && !JSON_TYPE.test(type)) return rejection(415, 'Content-Type must be application/json');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return rejection(415, 'Content-Encoding is not supported', ['accept-encoding', 'identity']);
  }
  if (headers.accept === BOTH || (accepts(headers.accept, 'application/json') && accepts(headers.accept, 'text/event-stream')))
    return undefined;
  return rejection(406, 'Accept must list application/json and text/event-stream');
}

/** Whether an `Accept` header admits a type. None admits everything; weights are not looked at but for "not at all". */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept === WILDCARD) return true;
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  return accept.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return (name === type || name === family || name === WILDCARD) && !parameters.some((part) => /^q=0(\.0*)?$/.test(part));
  });
}
