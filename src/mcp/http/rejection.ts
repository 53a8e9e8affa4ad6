import type { ServerResponse } from 'node:http';
import { INVALID_REQUEST, type RequestId, type RpcError } from '../message.ts';

/** Why an HTTP request is turned away before anything is done for it. */
export interface Rejection {
  readonly status: number;
  readonly error: RpcError;
  /** That of the request in the body, where it was read. */
  readonly id?: RequestId | undefined;
  readonly headers?: readonly string[];
}

export const TRY_AGAIN = ['retry-after', '1'];

export function rejection(status: number, message: string, headers: readonly string[] = []): Rejection {
  return { status, error: { code: INVALID_REQUEST, message }, headers };
}

/** Answers with a JSON-RPC error. Where the body wasn't read the connection is closed too, since the rest of the body would be taken for a request. */
export function turnAway(response: ServerResponse, { status, error, id, headers = [] }: Rejection, complete: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error });
  const all = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text)), ...headers];
  response.writeHead(status, complete ? all : [...all, 'connection', 'close']);
  response.end(text);
}
