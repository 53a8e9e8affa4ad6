import type { IncomingMessage, ServerResponse } from 'node:http';
import { INVALID_REQUEST, type RequestId, type RpcError } from '../../kernel/json-rpc/message.ts';

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

/** Of a body that nobody wants, read so that the answer arrives: closing on unread bytes resets the connection, and the client may see only that. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;

/** Answers with a JSON-RPC error. Where the body wasn't read the connection ends with it, since the rest would be taken for another request. */
export function turnAway(request: IncomingMessage, response: ServerResponse, { status, error, id, headers = [] }: Rejection): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error });
  const all = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text)), ...headers];
  response.writeHead(status, request.complete ? all : [...all, 'connection', 'close']);
  if (request.complete) response.end(text);
  else linger(request, response, text);
}

function linger(request: IncomingMessage, response: ServerResponse, text: string): void {
  let left = LINGER_BYTES;
  const end = (): void => {
    clearTimeout(timer);
    if (!response.writableEnded) response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('end', end);
  response.on('close', end);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  response.write(text);
}
