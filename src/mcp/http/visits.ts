import type { ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import type { Incoming } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createPassing, type Passing } from '../../kernel/passing.ts';
import type { Answer, Connection } from '../connection.ts';
import type { Flight } from '../in-flight.ts';
import { type Agent, MAX_OPEN } from './agents.ts';
import { createExchange, type Exchange } from './exchange.ts';
import type { Session } from './sessions.ts';

const TICK_MS = 5_000;
const CLOSE_MS = 5_000;
export const REVOKED = 'The credential was revoked.';

/** One HTTP request whose message was understood, until its response is over. */
export interface Visit {
  readonly exchange: Exchange;
  /** Lets the connection answer the message. */
  respond(message: Incoming, connection: Connection, statusOf: (answer: Answer) => number): void;
}

export interface Visits {
  enter(response: ServerResponse, agent: Agent, signal: AbortSignal | undefined, session?: Session): Visit;
  /** Cancels and answers everything under way; resolves once it has ended, or was cut off. */
  close(reason: string): Promise<void>;
}

export function createVisits(logger: Logger, clock: Clock): Visits {
  /** Until the response is over and the work too: in a session a call goes on when its client is gone. */
  const open = createPassing<{ readonly exchange: Exchange; connection: Connection | undefined }>();
  const idle = Promise.withResolvers<void>();
  let closing = false;
  const revocations = createRevocations();
  const ticker = setInterval(() => {
    for (const { exchange } of open.values()) exchange.tick();
  }, TICK_MS);
  ticker.unref();

  return {
    enter(response, { hold }, signal, session) {
      const flights: Flight[] = [];
      const exchange = createExchange({ response, hold, logger, clock, started: (flight) => void flights.push(flight) });
      const own = { exchange, connection: session?.connection };
      const leave = open.add(own);
      if (session) session.exchanges++;
      const cancel = (reason: string): void => {
        for (const flight of flights) flight.cancel(reason);
      };
      /** A credential that is revoked takes with it what it began. */
      const revoked = (): void => {
        cancel(REVOKED);
        exchange.cut();
      };
      const stays = signal && revocations.watch(signal, revoked);

      let unfinished = 1;
      const finish = (): void => {
        unfinished--;
        if (unfinished > 0) return;
        stays?.();
        leave();
        if (session) session.exchanges--;
        if (closing && open.size === 0) idle.resolve();
      };
      response.on('close', () => {
        exchange.closed();
        if (!response.writableFinished) {
          // In the handshake revisions a lost connection is no wish to cancel; the call goes on, though its answer is lost.
          if (session) session.connection.lost(exchange);
          else cancel('The client closed the connection.');
        }
        finish();
      });

      return {
        exchange,
        respond(message, connection, statusOf) {
          own.connection = connection;
          const answer = connection.respond(message, exchange);
          if (answer instanceof Promise) {
            unfinished++;
            void answer
              .then((each) => exchange.answer(each, statusOf(each)))
              .catch((thrown: unknown) => {
                logger.error('an answer could not be given', { reason: String(thrown) });
                exchange.cut();
              })
              .then(finish);
          } else exchange.answer(answer, statusOf(answer));
        },
      };
    },

    close(reason) {
      closing = true;
      clearInterval(ticker);
      for (const { exchange, connection } of open.values()) {
        if (connection) connection.shutdown(reason);
        else exchange.end();
      }
      if (open.size === 0) idle.resolve();
      const late = setTimeout(() => {
        logger.warn('requests did not end in time after they were cancelled', { waited_ms: CLOSE_MS, requests: open.size });
        for (const { exchange } of open.values()) exchange.cut();
        idle.resolve();
      }, CLOSE_MS);
      return idle.promise.finally(() => clearTimeout(late));
    },
  };
}

/** One listener per credential: adding and removing one for each request costs as much as reading it. */
function createRevocations(): { watch(signal: AbortSignal, revoked: () => void): () => boolean } {
  const watched = new WeakMap<AbortSignal, Passing<() => void>>();
  return {
    watch(signal, revoked) {
      const known = watched.get(signal);
      const all = known ?? createPassing<() => void>();
      if (known === undefined) {
        watched.set(signal, all);
        signal.addEventListener('abort', () => {
          for (const each of all.values()) each();
        });
      }
      return all.add(revoked);
    },
  };
}

/** Whether an agent may begin one more request; if so it is counted until its response is over. */
export function admit(agent: Agent, response: ServerResponse): boolean {
  if (agent.open >= MAX_OPEN) return false;
  agent.open++;
  response.on('close', () => {
    agent.open--;
  });
  return true;
}
