import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type Incoming,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  parseMessage,
  type RpcError,
} from '../../kernel/json-rpc/message.ts';
import type { ParamHeader } from '../../kernel/json-rpc/param-headers.ts';
import { UNEXPECTED } from '../answers.ts';
import { type Answer, type Connection, createConnection } from '../connection.ts';
import type { HttpCaller, HttpParts, McpHandler, ServerParts } from '../types.ts';
import { type Agent, createAgents } from './agents.ts';
import { type Body, readBody } from './body.ts';
import { accepts, refuseForeign, refuseKind } from './door.ts';
import { eraOf, isEraError } from './era.ts';
import { type Rejection, rejection, TRY_AGAIN, turnAway } from './rejection.ts';
import { createSessions } from './sessions.ts';
import { admit, createVisits, REVOKED } from './visits.ts';

/** Hosts look for this pair to know that they must begin anew. */
const SESSION_NOT_FOUND: Rejection = { status: 404, error: { code: -32001, message: 'Session not found' } };
const NO_SESSION = 'The header Mcp-Session-Id is required: send initialize first, or a request of 2026-07-28 with its params._meta';
const BUSY = rejection(429, 'Too many requests at once', TRY_AGAIN);
const CLOSING = 'The server is closing.';

/** MCP over Streamable HTTP, every revision at one endpoint. */
export function createMcpHandler({ logger, clock, signer, hosts, origins, runEnded }: HttpParts): McpHandler {
  const doors = { hosts: new Set(hosts.map((host) => host.toLowerCase())), origins: new Set(origins) };
  const agentOf = createAgents();
  const sessions = createSessions(signer, clock);
  const visits = createVisits(logger, clock);
  const stateless = new WeakMap<ServerParts, Connection>();
  let closed: Promise<void> | undefined;

  function route(request: IncomingMessage, response: ServerResponse, caller: HttpCaller): Rejection | undefined {
    const foreign = refuseForeign(request, doors);
    if (foreign) return foreign;
    if (closed) return rejection(503, CLOSING, TRY_AGAIN);
    // Between its check and now.
    if (caller.signal?.aborted) return rejection(401, 'The credential was revoked');
    const agent = agentOf(caller.agent);
    switch (request.method) {
      case 'POST':
        return refuseKind(request) ?? post(request, response, caller, agent);
      case 'GET':
        return listen(request, response, caller, agent);
      case 'DELETE':
        return remove(request, response, caller, agent);
      default:
        return rejection(405, 'Method not allowed', ['allow', 'GET, POST, DELETE']);
    }
  }

  function answer(request: IncomingMessage, response: ServerResponse, work: () => Rejection | undefined): void {
    try {
      const refused = work();
      if (refused) turnAway(request, response, refused);
    } catch (thrown) {
      logger.error('an HTTP request failed', { reason: thrown instanceof Error ? thrown.message : String(thrown) });
      turnAway(request, response, { status: 500, error: { code: INTERNAL_ERROR, message: UNEXPECTED } });
    }
  }

  function post(request: IncomingMessage, response: ServerResponse, caller: HttpCaller, agent: Agent): Rejection | undefined {
    if (!admit(agent, response)) return BUSY;
    const body = readBody(request, agent.hold, (what) =>
      answer(request, response, () =>
        what.type === 'text' ? receive(what.text, request, response, caller, agent) : unreadable(what.type),
      ),
    );
    response.on('close', body.release);
    return undefined;
  }

  function receive(
    text: string,
    request: IncomingMessage,
    response: ServerResponse,
    caller: HttpCaller,
    agent: Agent,
  ): Rejection | undefined {
    const message = parseMessage(text);
    if (message.kind === 'invalid') return { status: 400, error: message.error, id: message.id };
    const mirrored = (tool: string): readonly ParamHeader[] => caller.parts.foreign?.()?.mirrored(tool) ?? [];
    const { era, error } = eraOf(message, request.headers, mirrored);
    if (error !== undefined) return { status: 400, error, id: idOf(message) };
    if (era === 'handshake') return serveHandshake(message, request.headers['mcp-session-id'], response, caller, agent);

    const visit = visits.enter(response, agent, caller.signal);
    // The one notification there is, notifications/cancelled, is for stdio: here a closed connection says it.
    if (message.kind === 'request') visit.respond(message, statelessOf(caller, agent), statelessStatus);
    else visit.exchange.answer(undefined, 202);
    return undefined;
  }

  /** What stateless requests share is only what is counted, and notices for the same owner. */
  function statelessOf({ parts, signal }: HttpCaller, { bounds }: Agent): Connection {
    const known = stateless.get(parts);
    if (known !== undefined) return known;
    const connection = createConnection({ parts, bounds });
    stateless.set(parts, connection);
    // Calls that wait for their client between two requests belong to no request that is open.
    signal?.addEventListener('abort', () => connection.shutdown(REVOKED), { once: true });
    return connection;
  }

  function serveHandshake(
    message: Incoming,
    id: string | string[] | undefined,
    response: ServerResponse,
    caller: HttpCaller,
    agent: Agent,
  ): Rejection | undefined {
    if (id === undefined) {
      if (message.kind === 'request' && message.method === 'initialize') return begin(message, response, caller, agent);
      return { ...rejection(400, NO_SESSION), id: idOf(message) };
    }
    const session = sessions.find(String(id), caller, agent.bounds);
    if (session === undefined) return { ...SESSION_NOT_FOUND, id: idOf(message) };
    visits.enter(response, agent, caller.signal, session).respond(message, session.connection, handshakeStatus);
    return undefined;
  }

  function begin(message: Incoming, response: ServerResponse, caller: HttpCaller, agent: Agent): undefined {
    const { session, register } = sessions.begin(caller, agent.bounds);
    const { exchange } = visits.enter(response, agent, caller.signal, session);
    const welcome = session.connection.respond(message, exchange);
    if (welcome instanceof Promise) throw new Error('initialize is answered at once');
    if (session.connection.hello() === undefined) exchange.answer(welcome, 400);
    else exchange.answer(welcome, 200, ['mcp-session-id', register()]);
  }

  /** The stream of a session that belongs to no request: what happens between its requests. */
  function listen({ headers }: IncomingMessage, response: ServerResponse, caller: HttpCaller, agent: Agent): Rejection | undefined {
    if (!accepts(headers.accept, 'text/event-stream')) return rejection(406, 'Accept must list text/event-stream');
    const id = headers['mcp-session-id'];
    if (id === undefined) return rejection(405, NO_SESSION, ['allow', 'POST']);
    const { streams } = agent.bounds;
    const session = sessions.find(String(id), caller, agent.bounds);
    if (session === undefined) return SESSION_NOT_FOUND;
    // A client that comes again has lost the one before.
    session.listening?.end();
    if (streams.taken >= streams.max || !admit(agent, response)) return BUSY;
    streams.taken++;
    const { exchange } = visits.enter(response, agent, caller.signal, session);
    session.listening = exchange;
    const stopTelling = session.connection.listen(exchange.offer);
    response.on('close', () => {
      stopTelling();
      streams.taken--;
      if (session.listening === exchange) delete session.listening;
    });
    exchange.open();
    return undefined;
  }

  function remove({ headers }: IncomingMessage, response: ServerResponse, caller: HttpCaller, agent: Agent): Rejection | undefined {
    const id = headers['mcp-session-id'];
    if (id === undefined) return rejection(400, NO_SESSION);
    const session = sessions.find(String(id), caller, agent.bounds);
    if (session === undefined) return SESSION_NOT_FOUND;
    sessions.end(String(id));
    session.connection.shutdown('The client ended the session.');
    session.listening?.end();
    runEnded?.(session.run);
    response.writeHead(204);
    response.end();
    return undefined;
  }

  return {
    handle(request, response, caller) {
      // It may have gone while its credential was looked up: nothing would tell us so any more.
      if (response.destroyed) return;
      // Whatever was still written to a response that had been destroyed.
      response.on('error', (error) => logger.debug('a response failed', { reason: error.message }));
      answer(request, response, () => route(request, response, caller));
    },
    close() {
      if (closed) return closed;
      for (const session of sessions.all()) {
        session.connection.shutdown(CLOSING);
        session.listening?.end();
      }
      closed = visits.close(CLOSING);
      return closed;
    },
  };
}

function idOf(message: Incoming): Rejection['id'] {
  return message.kind === 'request' ? message.id : undefined;
}

function unreadable(type: Exclude<Body['type'], 'text'>): Rejection {
  switch (type) {
    case 'too_long':
      return rejection(413, 'The message is longer than 8 MiB');
    case 'too_much':
      return rejection(429, 'Too much is being sent at once', TRY_AGAIN);
    case 'not_utf8':
      return { status: 400, error: { code: PARSE_ERROR, message: 'Not valid UTF-8' } };
  }
}

/** Faults of a 2026-07-28 request itself are HTTP errors too; what a method answers is not. */
function statelessStatus(answer: Answer): number {
  const code = codeOf(answer);
  if (code === METHOD_NOT_FOUND) return 404;
  return isEraError(code) ? 400 : 200;
}

function handshakeStatus(answer: Answer): number {
  if (answer === undefined) return 202;
  return codeOf(answer) === INVALID_REQUEST ? 400 : 200;
}

function codeOf(answer: Answer): unknown {
  return answer !== undefined && 'error' in answer ? (answer['error'] as RpcError).code : undefined;
}
