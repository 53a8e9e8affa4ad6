import type { Socket } from 'node:net';
import type { Members, Reply, RequestId } from '../../kernel/json-rpc/message.ts';
import type { Hearing } from '../hearing.ts';
import type { Flight } from '../in-flight.ts';
import type { Notices } from '../notices.ts';
import type { Progress } from '../progress.ts';
import type { Answer, Question } from '../requester.ts';
import type { Features } from '../revisions.ts';
import type { CallScope, Peer, ServerParts } from '../types.ts';

/** What the method of one request sees. */
export interface RequestContext {
  readonly parts: ServerParts;
  readonly features: Features;
  readonly peer: Peer;
  readonly params: Members;
  /** What its client wants to hear between requests; nobody's in 2026-07-28. */
  readonly hearing: Hearing;
}

/** The same for a method that takes time. */
export interface WorkContext extends RequestContext {
  readonly id: RequestId;
  readonly flight: Flight;
  readonly notices: Notices;
  /** What the request came in on, over HTTP. */
  readonly socket: Socket | undefined;
  /** Calls of clients that are asked with the answer of one. */
  readonly held: HeldCalls;
  /** Where what is said of its progress goes, when that isn't this request alone. */
  readonly progress?: Progress;
  /** A question to the client: on the stream of this request, or of a held call. */
  ask(question: Question): Promise<Answer>;
  /** A notification that belongs to this request and must arrive. */
  send(message: unknown): void;
  /** One that may be lost. */
  offer(message: unknown): void;
}

/** Undefined: nothing is answered. */
export type Work = (context: WorkContext) => Promise<Reply | undefined>;

/** What a request asks for: only the same one goes on with a held call. */
export interface Meant {
  readonly tool: string;
  readonly arguments: unknown;
}

/** Calls that are held open while their client is asked between two requests (asking/held-calls.ts). */
export interface HeldCalls {
  /** Does the work of a request whose client may have to be asked with the answer, or goes on with what was held. */
  run(context: WorkContext, meant: Meant, work: Work): Promise<Reply | undefined>;
  /** Cancels all of them. */
  close(reason: string): void;
}

/** Whose request it is; gives up as soon as the request is cancelled, since it may wait for the client's roots. */
export async function scopeOf({ parts, peer, flight: { signal } }: WorkContext): Promise<CallScope> {
  signal.throwIfAborted();
  const found = parts.scopeOf(peer);
  const scope = found instanceof Promise ? await unlessAborted(found, signal) : found;
  if (peer.client === undefined) return scope;
  const { name, version, title } = peer.client;
  // In the order in which it is recorded.
  const client = { name, protocol: peer.revision, ...(title === undefined ? {} : { title }), version };
  return { ...scope, client };
}

async function unlessAborted<T>(found: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    const value = await Promise.race([found, aborted.promise]);
    signal.throwIfAborted();
    return value;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
