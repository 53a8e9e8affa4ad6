import { AppError, toAppError } from '../../kernel/errors.ts';
import { isLogLevel } from '../../kernel/json-rpc/log-levels.ts';
import { failure, INVALID_PARAMS, isObject, type Members, type Reply } from '../../kernel/json-rpc/message.ts';
import { refusalError } from '../answers.ts';
import { MAX_WATCHED, updated } from '../hearing.ts';
import type { Change, ServerParts } from '../types.ts';
import type { RequestContext, WorkContext } from './context.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** A server that has to be started first may take longer; then its resources are not among those that are honoured. */
const WATCH_MS = 5_000;

const LISTS = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const;

/**
 * `subscriptions/listen` (2026-07-28): what is honoured of the client's filter is said first, then what happens, until the client cancels it or
 * we end, which is told by the response (the schema's graceful close).
 */
export async function listen({ id, params, parts, flight, send, offer }: WorkContext): Promise<Reply> {
  const wanted = params['notifications'];
  if (!isObject(wanted)) return failure(INVALID_PARAMS, 'The member params.notifications must be an object');
  const uris = wanted['resourceSubscriptions'] ?? [];
  if (!isUris(uris)) {
    return failure(INVALID_PARAMS, `The member params.notifications.resourceSubscriptions must be at most ${MAX_WATCHED} addresses`);
  }
  const meta = { [SUBSCRIPTION_ID]: id };
  const lists = listsOf(wanted, parts);
  const watched = new Map<string, () => void>();
  const signal = AbortSignal.any([flight.signal, AbortSignal.timeout(WATCH_MS)]);
  let acknowledged = false;
  const tell = (message: Members): void => {
    // A server that tells something all the time must not fill the connection of a client that reads slowly.
    if (acknowledged) offer(message);
  };
  await Promise.all(
    [...new Set(uris)].map(async (uri) => {
      const stop = await parts
        .foreign?.()
        ?.watch(uri, () => tell(updated(uri, meta)), signal)
        .catch((thrown: unknown) => {
          // What isn't acknowledged isn't watched; why not stands in the log.
          if (!flight.signal.aborted) notWatched(parts, uri, thrown);
          return undefined;
        });
      if (stop !== undefined) watched.set(uri, stop);
    }),
  );
  const stop = parts.onChange?.((change) => {
    if (change.type === 'log' || !lists.has(change.type)) return;
    tell({ jsonrpc: '2.0', method: `notifications/${change.type}/list_changed`, params: { _meta: meta } });
  });
  const notifications = {
    ...Object.fromEntries([...lists].map((list) => [LISTS[list], true])),
    ...(watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] }),
  };
  send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta: meta, notifications } });
  acknowledged = true;
  await new Promise<void>((resolve) => {
    if (flight.signal.aborted) resolve();
    else flight.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  stop?.();
  for (const end of watched.values()) end();
  // Not sent where it was the client that ended it.
  return { result: { _meta: meta } };
}

function notWatched({ logger }: ServerParts, uri: string, thrown: unknown): void {
  logger.warn('a resource can not be watched', { uri, reason: toAppError(thrown).message });
}

type List = Exclude<Change['type'], 'log'>;

/** Of prompts and resources too where there is no server that could have any: the first may come later. */
function listsOf(wanted: Members, { onChange }: ServerParts): ReadonlySet<List> {
  const changing: readonly List[] = onChange === undefined ? [] : ['tools', 'prompts', 'resources'];
  return new Set(changing.filter((list) => wanted[LISTS[list]] === true));
}

function isUris(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_WATCHED && value.every((uri) => typeof uri === 'string' && uri.length <= 8_192);
}

/** `resources/subscribe` */
export async function subscribe({ parts, params, features, flight, hearing }: WorkContext): Promise<Reply> {
  const { uri } = params;
  if (typeof uri !== 'string') return failure(INVALID_PARAMS, 'The member params.uri must be a string');
  const foreign = parts.foreign?.();
  const watched = foreign === undefined ? 'unknown' : await hearing.watch(foreign, uri, flight.signal).catch(toAppError);
  if (watched instanceof AppError) {
    notWatched(parts, uri, watched);
    return refusalError({ code: watched.code, message: 'It can not be watched just now; the log of Writ says why.' });
  }
  if (watched === 'too_many') return failure(INVALID_PARAMS, `${MAX_WATCHED} resources are watched already`);
  return watched === 'watched'
    ? { result: {} }
    : failure(features.resourceNotFound, 'Resource not found, or it can not be watched', { uri });
}

/** `resources/unsubscribe` */
export async function unsubscribe({ params, hearing }: WorkContext): Promise<Reply> {
  const { uri } = params;
  if (typeof uri !== 'string') return failure(INVALID_PARAMS, 'The member params.uri must be a string');
  hearing.unwatch(uri);
  return { result: {} };
}

/** `logging/setLevel` */
export function setLevel({ parts, params, hearing }: RequestContext): Reply {
  const { level } = params;
  if (!isLogLevel(level)) return failure(INVALID_PARAMS, 'The member params.level must be a level of RFC 5424, such as "info"');
  hearing.setLevel(level);
  parts.foreign?.()?.setLevel(level);
  return { result: {} };
}
