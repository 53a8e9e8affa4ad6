import { fileURLToPath } from 'node:url';
import { isObject, type Members } from '../kernel/json-rpc/message.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Requester, Way } from './requester.ts';
import type { Revision } from './revisions.ts';
import type { ClientFacts, Peer } from './types.ts';

const ROOTS_MS = 5_000;
const MAX_ROOTS = 64;
const MAX_FACT = 200;

/** A client of a stateless request. */
export function statelessPeer(revision: Revision, info: unknown, capabilities: Members): Peer {
  return { revision, client: clientFacts(info), capabilities, roots: () => Promise.resolve([]) };
}

/** What the handshake told. */
export interface Hello {
  readonly revision: Revision;
  readonly client: ClientFacts | undefined;
  readonly capabilities: Members;
}

export interface SessionPeer extends Omit<Peer, 'roots'> {
  /** The same client for one request, asked on the stream of that request. */
  via(way: Way): Peer;
  /** `notifications/initialized` came: from now on it may be asked. */
  initialized(): void;
  rootsChanged(): void;
}

/** The client of a handshake. Its roots are asked for once and shared; a client that doesn't answer is not asked again until it says they changed. */
export function sessionPeer(hello: Hello, requester: Requester, logger: Logger, session?: string): SessionPeer {
  const { revision, client, capabilities } = hello;
  const facts = { revision, client, capabilities, ...(session === undefined ? {} : { session }) };
  let known: Promise<readonly string[]> | undefined;
  const ready = Promise.withResolvers<void>();

  async function ask(way: Way): Promise<readonly string[]> {
    const answer = await requester.ask({ method: 'roots/list', ms: ROOTS_MS, ready: ready.promise }, way);
    if (answer.ok) return rootPaths(answer.result, logger);
    // Another call may have better luck; a client that doesn't answer is not asked again.
    if (answer.lost) known = undefined;
    logger.warn('the client did not give its roots', { reason: answer.reason });
    return [];
  }

  return {
    ...facts,
    via: (way) => ({
      ...facts,
      roots() {
        if (!isObject(capabilities['roots'])) return Promise.resolve([]);
        known ??= ask(way);
        return known;
      },
    }),
    initialized: () => ready.resolve(),
    rootsChanged() {
      known = undefined;
    },
  };
}

export function clientFacts(info: unknown): ClientFacts | undefined {
  if (!isObject(info)) return undefined;
  const { name, version, title } = info;
  if (typeof name !== 'string') return undefined;
  return {
    name: cut(name),
    version: typeof version === 'string' ? cut(version) : '',
    ...(typeof title === 'string' ? { title: cut(title) } : {}),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_FACT).toWellFormed();
}

function rootPaths(result: unknown, logger: Logger): readonly string[] {
  const roots = isObject(result) ? result['roots'] : undefined;
  if (!Array.isArray(roots)) {
    logger.warn('the client answered roots/list with something else');
    return [];
  }
  const paths: string[] = [];
  for (const root of roots.slice(0, MAX_ROOTS)) {
    const uri: unknown = isObject(root) ? root['uri'] : undefined;
    try {
      if (typeof uri !== 'string' || !uri.startsWith('file:')) throw new Error('not a file:// uri');
      paths.push(fileURLToPath(uri));
    } catch (error) {
      logger.warn('a root of the client is left out', { reason: error instanceof Error ? error.message : String(error) });
    }
  }
  if (roots.length > MAX_ROOTS) logger.warn('only the first roots of the client are used', { given: roots.length, used: MAX_ROOTS });
  return paths;
}
