import type { Socket } from 'node:net';
import type { Members, Reply, RequestId } from '../../kernel/json-rpc/message.ts';
import type { Flight } from '../in-flight.ts';
import type { Notices } from '../notices.ts';
import type { Answer, Question } from '../requester.ts';
import type { Features } from '../revisions.ts';
import type { CallScope, Peer, ServerParts } from '../types.ts';

/** What the method of one request sees. */
export interface RequestContext {
  readonly parts: ServerParts;
  readonly features: Features;
  readonly peer: Peer;
  readonly params: Members;
}

/** The same for a method that takes time. */
export interface WorkContext extends RequestContext {
  readonly id: RequestId;
  readonly flight: Flight;
  readonly notices: Notices;
  /** What the request came in on, over HTTP. */
  readonly socket: Socket | undefined;
  /** A question to the client, on the stream of this request. Only in the handshake revisions. */
  ask(question: Question): Promise<Answer>;
  /** A notification that belongs to this request and must arrive. */
  send(message: unknown): void;
  /** One that may be lost. */
  offer(message: unknown): void;
}

/** Undefined: nothing is answered. */
export type Work = (context: WorkContext) => Promise<Reply | undefined>;

/** Whose request it is; gives up as soon as the request is cancelled, since it may wait for the client's roots. */
export async function scopeOf({ parts, peer, flight: { signal } }: WorkContext): Promise<CallScope> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    const scope = await Promise.race([parts.scopeOf(peer), aborted.promise]);
    signal.throwIfAborted();
    return peer.client === undefined ? scope : { ...scope, client: { ...peer.client, protocol: peer.revision } };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
