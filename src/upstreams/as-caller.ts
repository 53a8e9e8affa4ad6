import { isObject } from '../kernel/json-rpc/message.ts';
import type { JsonObject, Relay } from './types.ts';
import { META_CAPABILITIES } from './wire/client.ts';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const TASKS = 'io.modelcontextprotocol/tasks';

/** In 2026-07-28 each request says what its caller wants of the log, and whether it can be given a task. */
export function asCaller(params: JsonObject, relay: Relay | undefined): JsonObject {
  if (relay?.log_level === undefined && relay?.tasks !== true) return params;
  return {
    ...params,
    _meta: {
      ...(isObject(params['_meta']) ? params['_meta'] : {}),
      ...(relay.log_level === undefined ? {} : { [LOG_LEVEL]: relay.log_level }),
      ...(relay.tasks === true ? { [META_CAPABILITIES]: { extensions: { [TASKS]: {} } } } : {}),
    },
  };
}
