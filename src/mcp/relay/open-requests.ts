import { isObject, isRequestId, type Members, type RequestId } from '../../kernel/json-rpc/message.ts';

/** What a relay must know of a conversation to carry it on when its server dies. */
export interface OpenRequests {
  /** A line of the client. */
  asked(line: Buffer): void;
  /** A line of the server. */
  answered(line: Buffer): void;
  /** Ids that have no answer yet, an id twice when it was used twice. */
  ids(): readonly RequestId[];
  /** The lines that another server must have seen first, `initialize` under the id given. */
  handshake(id: string): readonly string[];
}

export function createOpenRequests(): OpenRequests {
  // Bounded by what the server takes: more than 64 calls and 16 streams at once are answered `busy`.
  const open = new Map<string, { readonly id: RequestId; count: number }>();
  let initialize: Members | undefined;
  let initialized = false;

  function ask(message: unknown): void {
    if (!isObject(message)) return;
    const { id, method, params } = message;
    if (method === 'notifications/initialized') initialized = true;
    // A cancelled request isn't answered.
    if (method === 'notifications/cancelled' && isObject(params) && isRequestId(params['requestId'])) close(params['requestId']);
    if (typeof method !== 'string' || !isRequestId(id)) return;
    if (method === 'initialize') initialize ??= message;
    const key = JSON.stringify(id);
    const same = open.get(key);
    if (same === undefined) open.set(key, { id, count: 1 });
    else same.count += 1;
  }

  function close(id: RequestId): void {
    const key = JSON.stringify(id);
    const same = open.get(key);
    if (same === undefined) return;
    same.count -= 1;
    if (same.count === 0) open.delete(key);
  }

  return {
    asked: (line) => each(line, ask),
    answered: (line) =>
      each(line, (message) => {
        if (isObject(message) && !('method' in message) && isRequestId(message['id'])) close(message['id']);
      }),
    ids: () => [...open.values()].flatMap(({ id, count }) => Array<RequestId>(count).fill(id)),
    handshake(id) {
      if (initialize === undefined) return [];
      const first = JSON.stringify({ ...initialize, id });
      return initialized ? [first, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })] : [first];
    },
  };
}

function each(line: Buffer, take: (message: unknown) => void): void {
  let message: unknown;
  try {
    message = JSON.parse(line.toString('utf8'));
  } catch {
    // The server answers what is no JSON, with an error that has no id.
    return;
  }
  if (Array.isArray(message)) message.forEach(take);
  else take(message);
}
