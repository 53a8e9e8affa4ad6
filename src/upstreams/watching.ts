import { toAppError } from '../kernel/errors.ts';
import { isLogLevel, type LogLevel, reaches } from '../kernel/json-rpc/log-levels.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import type { Logger } from '../kernel/logger.ts';
import type { JsonObject } from './types.ts';
import type { UpstreamClient } from './wire/client.ts';

/** What our clients want to hear from one upstream between calls, said to it in the words of its era, and again after it was connected anew. */
export interface Watching {
  /** Undefined: it doesn't tell of that resource. `client` is the connection of now. */
  add(client: UpstreamClient, uri: string, told: () => void, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** It says that a resource has changed. */
  updated(uri: unknown): void;
  /** The least urgent log line that anybody wants. */
  level(client: UpstreamClient | undefined, level: string): void;
  connected(client: UpstreamClient): void;
  /** How many resources are watched: an upstream that is watched is not idle. */
  size(): number;
}

export interface WatchingParts {
  readonly name: string;
  readonly logger: Logger;
  readonly timeout_ms: number;
  readonly ended: AbortSignal;
}

/** Of one upstream, for all clients. */
const MAX_WATCHED = 10_000;
/** A stream that broke is opened again after so long. */
const AGAIN_MS = 5_000;
/** As long as a timer can be. */
const FOR_EVER_MS = 2_147_483_647;

export function createWatching({ name, logger, timeout_ms, ended }: WatchingParts): Watching {
  const watchers = new Map<string, Set<() => void>>();
  let least: LogLevel | undefined;
  let stream: AbortController | undefined;
  let current: UpstreamClient | undefined;

  async function ask(client: UpstreamClient, method: string, params: JsonObject, signal: AbortSignal = ended): Promise<boolean> {
    try {
      const answer = await client.request(method, params, { timeout_ms, signal });
      if (!answer.ok) logger.debug(`${method} was refused by "${name}"`, { reason: answer.error.message });
      return answer.ok;
    } catch (thrown) {
      logger.debug(`${method} of "${name}" failed`, { reason: toAppError(thrown).message });
      return false;
    }
  }

  /** 2026-07-28 has one stream for all of it; what is wanted changes by opening another. */
  function listen(client: UpstreamClient): void {
    const { tools, prompts, resources } = client.capabilities;
    const lists = { toolsListChanged: tools, promptsListChanged: prompts, resourcesListChanged: resources };
    const wanted = Object.entries(lists).filter(([, one]) => isObject(one) && one['listChanged'] === true);
    const before = stream;
    stream = undefined;
    before?.abort();
    if (wanted.length === 0 && watchers.size === 0) return;
    const own = new AbortController();
    stream = own;
    const notifications = {
      ...Object.fromEntries(wanted.map(([list]) => [list, true])),
      ...(watchers.size === 0 ? {} : { resourceSubscriptions: [...watchers.keys()] }),
    };
    const signal = AbortSignal.any([own.signal, ended]);
    client.request('subscriptions/listen', { notifications }, { timeout_ms: FOR_EVER_MS, signal }).then(
      (answer) => {
        if (!answer.ok) logger.debug(`"${name}" can't be listened to`, { reason: answer.error.message });
        else again(client, own);
      },
      (thrown: unknown) => {
        if (signal.aborted) return;
        logger.debug(`the stream of "${name}" broke`, { reason: toAppError(thrown).message });
        again(client, own);
      },
    );
  }

  function again(client: UpstreamClient, own: AbortController): void {
    setTimeout(() => {
      if (stream === own && current === client && !ended.aborted) listen(client);
    }, AGAIN_MS).unref();
  }

  function remove(uri: string, told: () => void): void {
    const all = watchers.get(uri);
    if (all === undefined || !all.delete(told) || all.size > 0) return;
    watchers.delete(uri);
    if (current === undefined || ended.aborted) return;
    if (current.era === 'stateless') listen(current);
    else void ask(current, 'resources/unsubscribe', { uri });
  }

  return {
    async add(client, uri, told, signal) {
      const { resources } = client.capabilities;
      if (!isObject(resources) || resources['subscribe'] !== true || watchers.size >= MAX_WATCHED) return undefined;
      const all = watchers.get(uri) ?? new Set();
      // One object for each who watches, whatever function they bring.
      const own = (): void => told();
      watchers.set(uri, all.add(own));
      if (all.size === 1) {
        if (client.era === 'stateless') listen(client);
        else if (!(await ask(client, 'resources/subscribe', { uri }, signal))) {
          remove(uri, own);
          return undefined;
        }
      }
      return () => remove(uri, own);
    },
    updated(uri) {
      if (typeof uri === 'string') for (const told of [...(watchers.get(uri) ?? [])]) told();
    },
    level(client, level) {
      if (!isLogLevel(level) || (least !== undefined && reaches(level, least))) return;
      least = level;
      if (client !== undefined && client.era === 'handshake' && 'logging' in client.capabilities)
        void ask(client, 'logging/setLevel', { level });
    },
    connected(client) {
      current = client;
      if (client.era === 'stateless') {
        listen(client);
        return;
      }
      if (least !== undefined && 'logging' in client.capabilities) void ask(client, 'logging/setLevel', { level: least });
      for (const uri of watchers.keys()) void ask(client, 'resources/subscribe', { uri });
    },
    size: () => watchers.size,
  };
}
