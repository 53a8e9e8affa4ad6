/** JSON-RPC 2.0 as MCP narrows it: what came in, told apart by shape alone. */

export type RequestId = string | number;
export type Members = Readonly<Record<string, unknown>>;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

export type Incoming =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: Members }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Members }
  | { readonly kind: 'response'; readonly id: unknown; readonly result?: unknown; readonly error?: unknown }
  | { readonly kind: 'batch'; readonly items: readonly unknown[] }
  | { readonly kind: 'invalid'; readonly id: RequestId | undefined; readonly error: RpcError };

/** The outcome of a request, before it gets its envelope. */
export type Reply = { readonly result: Members } | { readonly error: RpcError };

/** Messages nested deeper than this are refused: recursion further on must not be the client's to exhaust. */
const MAX_DEPTH = 128;

export function failure(code: number, message: string, data?: unknown): { readonly error: RpcError } {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ids that can be given back exactly: a fraction is forbidden by the schema, a bigger integer would come back as another one. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** One line of text as a message. Never throws. */
export function parseMessage(text: string): Incoming {
  const shallow = cutDeep(text, MAX_DEPTH);
  if (shallow !== undefined) return tooDeep(shallow);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(PARSE_ERROR, 'Not valid JSON');
  }
  return classify(value);
}

/** Only the id of a request is read from what is left of it: whoever waits for the answer must get it. */
function tooDeep(shallow: string): Incoming {
  let id: RequestId | undefined;
  try {
    const value: unknown = JSON.parse(shallow);
    if (isObject(value) && Object.hasOwn(value, 'method') && isRequestId(value['id'])) id = value['id'];
  } catch {
    // No JSON either, but that it is too deep is the first thing to mend.
  }
  return invalid(INVALID_REQUEST, `Nested deeper than ${MAX_DEPTH} levels`, id);
}

/** A parsed value as a message; also for the items of a batch. */
export function classify(value: unknown): Incoming {
  if (Array.isArray(value)) return { kind: 'batch', items: value };
  if (!isObject(value)) return invalid(INVALID_REQUEST, 'A message must be a JSON object');
  const id = isRequestId(value['id']) ? value['id'] : undefined;
  if (value['jsonrpc'] !== '2.0') return invalid(INVALID_REQUEST, 'The member jsonrpc must be "2.0"', id);
  if (!Object.hasOwn(value, 'method')) {
    if (Object.hasOwn(value, 'result')) return { kind: 'response', id: value['id'], result: value['result'] };
    if (Object.hasOwn(value, 'error')) return { kind: 'response', id: value['id'], error: value['error'] };
    return invalid(INVALID_REQUEST, 'A message needs a method, a result or an error', id);
  }
  const method = value['method'];
  if (typeof method !== 'string') return invalid(INVALID_REQUEST, 'The member method must be a string', id);
  const isRequest = Object.hasOwn(value, 'id');
  if (isRequest && id === undefined) return invalid(INVALID_REQUEST, 'The member id must be a string or a safe integer');
  // `"params": null` is sent by enough clients for a missing one.
  const params = value['params'] ?? {};
  if (!isObject(params)) {
    const code = Array.isArray(params) ? INVALID_PARAMS : INVALID_REQUEST;
    return invalid(code, 'The member params must be an object', id);
  }
  return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method, params };
}

function invalid(code: number, message: string, id?: RequestId): Incoming {
  return { kind: 'invalid', id, error: { code, message } };
}

/**
 * The text with `null` in place of everything deeper than `max`; undefined where nothing is. Counts brackets outside strings, before anything is
 * built: eight megabytes of `[` would cost hundreds as arrays.
 */
function cutDeep(text: string, max: number): string | undefined {
  if (text.length <= max) return undefined;
  let kept: string | undefined;
  let from = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (quoted) {
      if (unit === 0x5c) at++;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth === max + 1) kept = `${kept ?? ''}${text.slice(from, at)}null`;
    } else if ((unit === 0x5d || unit === 0x7d) && depth-- === max + 1) from = at + 1;
  }
  if (kept === undefined || depth > max) return kept;
  return kept + text.slice(from);
}
