import type { Socket } from 'node:net';
import {
  classify,
  failure,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type Incoming,
  isObject,
  isRequestId,
  METHOD_NOT_FOUND,
  type Members,
  type Reply,
  type RequestId,
  type RpcError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../kernel/json-rpc/message.ts';
import { refusalError, refusalReply, UNEXPECTED } from './answers.ts';
import { createHeldCalls } from './asking/held-calls.ts';
import { createHearing } from './hearing.ts';
import { featuresFor } from './hosts.ts';
import { createInFlight, type Flight, type Places } from './in-flight.ts';
import type { RequestContext } from './methods/context.ts';
import { initializeResult, serverInfo } from './methods/handshake.ts';
import { METHODS, type Method } from './methods/index.ts';
import { createNotices } from './notices.ts';
import { clientFacts, type Hello, sessionPeer, statelessPeer } from './peer.ts';
import { createRequester, type Way } from './requester.ts';
import { type Features, featuresOf, isRevision, negotiate, SUPPORTED_REVISIONS } from './revisions.ts';
import type { Peer, ServerParts } from './types.ts';

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_SERVER = 'io.modelcontextprotocol/serverInfo';

/** Requests under way of one client; more are answered `busy`. */
export const MAX_CALLS = 64;
const MAX_STREAMS = 16;
/** Calls of one agent that wait for a person at its client between two requests. */
const MAX_HELD = 16;
const MAX_BATCH = 100;

export interface Bounds {
  readonly calls: Places;
  readonly streams: Places;
  readonly held: Places;
}

export function createBounds(): Bounds {
  return { calls: { max: MAX_CALLS, taken: 0 }, streams: { max: MAX_STREAMS, taken: 0 }, held: { max: MAX_HELD, taken: 0 } };
}

/** Where what belongs to a request goes before its answer. */
export interface Outlet extends Way {
  /** False when the message could not be written as JSON, or nothing can be sent any more. */
  send(message: unknown): boolean;
  /** For messages that may be lost. */
  offer(message: unknown): void;
  /** A request that takes time has begun; by this it is cancelled when nobody waits for it. */
  started?(flight: Flight): void;
  /** What the request came in on, over HTTP. */
  readonly socket?: Socket | undefined;
}

/** One whole message, ready to be sent. */
export type Response = Members;

export interface Connection {
  /** The answer to one message, undefined where none is due; an array answers a batch. What comes before the answer goes to `outlet`. */
  respond(message: Incoming, outlet: Outlet): Answer | Promise<Answer>;
  /** An error for what could not be read as a message. */
  errorWithoutId(error: RpcError): Response;
  /** What the client said in its handshake; undefined before. */
  hello(): Hello | undefined;
  /** Where what happens between requests is told, to a client of the handshake revisions. The function it returns ends that. */
  listen(tell: (message: Members) => void): () => void;
  /** What was asked through this outlet can't be answered any more. */
  lost(outlet: Outlet): void;
  /** Aborts everything under way; it is answered as usual. */
  shutdown(reason: string): void;
}

export type Answer = Response | readonly Response[] | undefined;

export interface ConnectionParts {
  readonly parts: ServerParts;
  /** Shared by the connections of one agent. */
  readonly bounds?: Bounds;
  /** Over HTTP: the session's id, and what it began with where it began in an earlier process. */
  readonly session?: { readonly id: string; readonly resumed?: Hello };
}

const UNASKABLE = { ok: false, reason: 'a client of this revision is asked with the answer of its call' } as const;
const NO_BATCHES: RpcError = { code: INVALID_REQUEST, message: 'A batch is not allowed here' };

type Request = Extract<Incoming, { kind: 'request' }>;
type Notification = Extract<Incoming, { kind: 'notification' }>;

/** One client, whatever carries its messages: which era each request is of, dispatch, cancellation, and the envelopes of answers. */
export function createConnection({ parts, bounds = createBounds(), session: own }: ConnectionParts): Connection {
  const { logger } = parts;
  const flights = { calls: createInFlight(bounds.calls), streams: createInFlight(bounds.streams) };
  const notices = createNotices(parts.pendingNotices, logger);
  const held = createHeldCalls(bounds.held);
  const hearing = createHearing();
  const requester = createRequester(logger);
  let session = own?.resumed && sessionPeer(own.resumed, requester, logger, own.id);
  // That handshake was finished long ago.
  session?.initialized();

  function respond(message: Incoming, outlet: Outlet): Response | undefined | Promise<Response | undefined> {
    switch (message.kind) {
      case 'request':
        return respondToRequest(message, outlet);
      case 'notification':
        onNotification(message);
        return undefined;
      case 'response':
        requester.settle(message.id, message);
        return undefined;
      case 'invalid':
        return message.id === undefined ? errorWithoutId(message.error) : { jsonrpc: '2.0', id: message.id, error: message.error };
      case 'batch':
        return errorWithoutId(NO_BATCHES);
    }
  }

  /** JSON-RPC batches: one array with an answer for each request of it, in order, once all are ready. */
  function respondToBatch(items: readonly unknown[], outlet: Outlet): Answer | Promise<Answer> {
    if (session === undefined || !featuresOf(session.revision).batches) return errorWithoutId(NO_BATCHES);
    if (items.length === 0 || items.length > MAX_BATCH) {
      return errorWithoutId({ code: INVALID_REQUEST, message: `A batch holds 1 to ${MAX_BATCH} messages` });
    }
    return Promise.all(items.map((item) => respond(classify(item), outlet))).then((all) => {
      const responses = all.filter((response) => response !== undefined);
      return responses.length === 0 ? undefined : responses;
    });
  }

  function respondToRequest(request: Request, outlet: Outlet): Response | Promise<Response | undefined> {
    const { id, method, params } = request;
    // With a version in its `_meta` it is one of the methods that 2026-07-28 doesn't have.
    if (method === 'initialize' && !claimsVersion(params)) return initialize(id, params);
    const found = METHODS.get(method);
    const peer = peerOf(params, found, outlet);
    if ('error' in peer) return { jsonrpc: '2.0', id, ...peer };
    const features = featuresFor(peer);
    if (found === undefined || !found.eras.includes(features.era) || lacks(found, parts)) {
      return envelope(id, failure(METHOD_NOT_FOUND, 'Method not found'), features);
    }
    const context = { parts, features, peer, params, hearing };
    if ('answer' in found) return envelope(id, atOnce(found.answer, context), features);

    const under = flights[found.bound];
    const flight = under.open(id);
    if (flight === undefined) return envelope(id, busy(method, params, features, under.places.max), features);
    outlet.started?.(flight);
    const { offer } = outlet;
    return found
      .work({
        ...context,
        id,
        flight,
        notices,
        held,
        offer,
        socket: outlet.socket,
        send: (message) => void outlet.send(message),
        ask: (question) => (features.era === 'handshake' ? requester.ask(question, outlet) : Promise.resolve(UNASKABLE)),
      })
      .catch((error: unknown) => fault(method, error))
      .then((reply) => {
        flight.end();
        return reply === undefined || flight.unwanted ? undefined : envelope(id, reply, features);
      });
  }

  function atOnce(answer: (context: RequestContext) => Reply, context: RequestContext): Reply {
    try {
      return answer(context);
    } catch (error) {
      return fault('a list', error);
    }
  }

  function fault(what: string, error: unknown): Reply {
    logger.error('a request failed', { what, reason: error instanceof Error ? error.message : String(error) });
    return failure(INTERNAL_ERROR, UNEXPECTED);
  }

  /** Whoever sends this request, by its own `_meta` or by the handshake; or the error that it gets for having neither. */
  function peerOf(params: Members, method: Method | undefined, outlet: Outlet): Peer | { readonly error: RpcError } {
    if (claimsVersion(params)) return statelessPeerOf(params['_meta']);
    if (session !== undefined) return session.via(outlet);
    if (method === undefined) return failure(METHOD_NOT_FOUND, 'Method not found');
    // The one request that is allowed before the handshake.
    if (method === METHODS.get('ping')) return statelessPeer('2025-11-25', undefined, {});
    return failure(
      INVALID_PARAMS,
      `Not initialized: send initialize first, or a request of revision ${SUPPORTED_REVISIONS[0]} with params._meta["${META_VERSION}"]`,
    );
  }

  function statelessPeerOf(meta: Members): Peer | { readonly error: RpcError } {
    const requested = meta[META_VERSION];
    if (typeof requested !== 'string') return failure(INVALID_PARAMS, `The member params._meta["${META_VERSION}"] must be a string`);
    if (!isRevision(requested) || featuresOf(requested).era !== 'stateless') {
      return failure(UNSUPPORTED_PROTOCOL_VERSION, 'Unsupported protocol version', { supported: SUPPORTED_REVISIONS, requested });
    }
    const capabilities = meta[META_CAPABILITIES];
    if (!isObject(capabilities)) return failure(INVALID_PARAMS, `The member params._meta["${META_CAPABILITIES}"] must be an object`);
    return statelessPeer(requested, meta[META_CLIENT], capabilities);
  }

  function initialize(id: RequestId, params: Members): Members {
    const { protocolVersion, capabilities = {}, clientInfo } = params;
    const refuse = (code: number, message: string): Members => ({ jsonrpc: '2.0', id, ...failure(code, message) });
    if (session !== undefined) return refuse(INVALID_REQUEST, `Already initialized with ${session.revision}`);
    if (typeof protocolVersion !== 'string') return refuse(INVALID_PARAMS, 'The member params.protocolVersion must be a string');
    if (!isObject(capabilities)) return refuse(INVALID_PARAMS, 'The member params.capabilities must be an object');
    const revision = negotiate(protocolVersion);
    session = sessionPeer({ revision, client: clientFacts(clientInfo), capabilities }, requester, logger, own?.id);
    logger.debug('a client is connected', { revision, requested: protocolVersion.slice(0, 40), client: session.client });
    const features = featuresOf(revision);
    return envelope(id, { result: initializeResult(parts, revision, features) }, features);
  }

  function onNotification({ method, params }: Notification): void {
    if (method === 'notifications/cancelled') {
      const { requestId, reason } = params;
      if (!isRequestId(requestId)) return;
      const why = typeof reason === 'string' && reason !== '' ? reason.slice(0, 200).toWellFormed() : 'no reason given';
      const count = flights.calls.cancel(requestId, why) + flights.streams.cancel(requestId, why);
      // Unknown and finished ones are the expected race and are ignored, as the specification says.
      logger.debug('the client cancelled a request', { found: count, reason: why });
    } else if (method === 'notifications/initialized') session?.initialized();
    else if (method === 'notifications/roots/list_changed') session?.rootsChanged();
  }

  function errorWithoutId(error: RpcError): Members {
    const unknownId = session === undefined ? 'absent' : featuresOf(session.revision).unknownId;
    return unknownId === 'null' ? { jsonrpc: '2.0', id: null, error } : { jsonrpc: '2.0', error };
  }

  function envelope(id: RequestId, reply: Reply, features: Features): Members {
    if ('error' in reply || features.era === 'handshake') return { jsonrpc: '2.0', id, ...reply };
    const meta = { ...(isObject(reply.result['_meta']) ? reply.result['_meta'] : {}), [META_SERVER]: serverInfo(parts.server, features) };
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...reply.result, _meta: meta } };
  }

  return {
    respond: (message, outlet) => (message.kind === 'batch' ? respondToBatch(message.items, outlet) : respond(message, outlet)),
    errorWithoutId,
    hello: () => session,
    listen: (tell) => hearing.listen(parts, (message) => void (session !== undefined && tell(message))),
    lost: requester.lost,
    shutdown(reason) {
      requester.close();
      held.close(reason);
      hearing.close();
      for (const each of Object.values(flights)) each.abortAll(reason);
    },
  };
}

/** Whether a request says by itself what it speaks, as all of 2026-07-28 do. */
export function claimsVersion(params: Members): params is Members & { readonly _meta: Members } {
  return isObject(params['_meta']) && Object.hasOwn(params['_meta'], META_VERSION);
}

function lacks({ needs }: Method, { resources, foreign }: ServerParts): boolean {
  return needs === 'foreign' ? foreign?.() === undefined : needs === 'resources' && resources === undefined;
}

function busy(method: string, params: Members, features: Features, bound: number): Reply {
  const refusal = { code: 'busy', message: `${bound} requests of this client are already running.` } as const;
  const tool = params['name'];
  return method === 'tools/call' && typeof tool === 'string' ? refusalReply(tool, refusal, features, []) : refusalError(refusal);
}
