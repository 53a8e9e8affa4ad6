import { pathToFileURL } from 'node:url';
import type { Logger } from '../kernel/logger.ts';
import type { Change, JsonObject, Relay, UpstreamSettings } from './types.ts';
import { METHOD_UNKNOWN, type PeerAnswer, type Served } from './wire/exchange.ts';

/** Questions that go on to the client whose call they belong to. */
const RELAYED: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage']);

export interface ServedParts {
  readonly settings: UpstreamSettings;
  readonly logger: Logger;
  /** A log line that belongs to no call. */
  announce(change: Change): void;
}

/** What an upstream may ask and say. */
export function createServed({ settings, logger, announce }: ServedParts): Served {
  return {
    async request(method, params, scopes, signal) {
      if (method === 'roots/list') {
        const roots = settings.roots.map(({ path }) => ({ uri: pathToFileURL(path).href, name: path.split('/').at(-1) ?? path }));
        return { ok: true, result: { roots } };
      }
      if (!RELAYED.has(method)) return METHOD_UNKNOWN;
      const relays = relaysOf(scopes);
      const [relay] = relays;
      if (relay === undefined) return refused('Nobody can be asked: no call of a client that answers this is under way');
      // A question must not reach somebody else's client, and over standard streams nothing says whose it is.
      if (relays.length > 1) return refused('Calls of several clients are under way, so that it is not known whose question this is');
      return relay.ask(method, method === 'elicitation/create' ? attributed(params, settings.name) : params, signal);
    },
    notification(method, params, scopes) {
      if (method === 'notifications/elicitation/complete') {
        for (const relay of relaysOf(scopes)) relay.tell(method, params);
      } else if (method === 'notifications/message') {
        const relays = relaysOf(scopes);
        const said = { ...params, logger: loggerOf(settings.name, params['logger']) };
        for (const relay of relays) relay.tell(method, said);
        if (relays.length === 0) announce({ type: 'log', params: said });
        logger.debug('an upstream says', { server: settings.name, level: params['level'], data: params['data'] });
      }
    },
  };
}

/** A person must see who asks: an upstream could word its question like one of Writ's. */
export function attributed(params: JsonObject, server: string): JsonObject {
  const { message } = params;
  return {
    ...params,
    message: `The MCP server "${server}" asks (this is not a question of Writ):\n\n${typeof message === 'string' ? message : ''}`,
  };
}

/** Which of all servers behind this door says it. */
function loggerOf(server: string, own: unknown): string {
  return typeof own === 'string' && own !== '' ? `${server}/${own}` : server;
}

function refused(message: string): PeerAnswer {
  return { ok: false, error: { code: -32603, message } };
}

function relaysOf(scopes: readonly unknown[]): readonly Relay[] {
  const relays = scopes.flatMap((scope) => (isScope(scope) && scope.relay !== undefined ? [scope.relay] : []));
  return [...new Set(relays)];
}

function isScope(scope: unknown): scope is { readonly relay?: Relay } {
  return typeof scope === 'object' && scope !== null;
}
