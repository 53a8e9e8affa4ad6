import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { type Bounds, type Connection, createConnection } from '../connection.ts';
import type { HttpCaller, ServerParts, Signer } from '../types.ts';
import type { Exchange } from './exchange.ts';
import { readSessionId, sessionIdFor } from './session-ids.ts';

/** One client of the handshake revisions. */
export interface Session {
  /** Whose it is, and at which endpoint: who shows another's id has none. */
  readonly agent: string;
  readonly endpoint: string;
  readonly run: string;
  readonly connection: Connection;
  readonly parts: ServerParts;
  /** How many of its HTTP requests have an open response or a call that still runs. */
  exchanges: number;
  /** What it listens on, at most one: a second GET takes its place. */
  listening?: Exchange;
}

export interface Sessions {
  /** A session that nobody has the id of before `register`. */
  begin(caller: HttpCaller, bounds: Bounds): { readonly session: Session; register(): string };
  /** Undefined: unknown here, or ended. */
  find(id: string, caller: HttpCaller, bounds: Bounds): Session | undefined;
  /** For ever, as far as this process lives. */
  end(id: string): void;
  all(): Iterable<Session>;
}

/** Kept in memory; the one that wasn't used for longest goes, and is there again when its client comes back. */
const MAX_SESSIONS = 1_000;
const MAX_ENDED = 10_000;

export function createSessions(signer: Signer, clock: Clock): Sessions {
  /** By id, in the order of last use. */
  const sessions = new Map<string, Session>();
  /** Those that the client deleted. After a restart they would be let in again: harmless, since an id opens nothing by itself. */
  const ended = new Set<string>();

  let newest: Session | undefined;

  function keep(id: string, session: Session): void {
    if (session === newest) return;
    newest = session;
    sessions.delete(id);
    sessions.set(id, session);
    if (sessions.size <= MAX_SESSIONS) return;
    for (const [oldest, each] of sessions) {
      if (each.exchanges > 0 || each === newest) continue;
      sessions.delete(oldest);
      each.connection.shutdown('Its session was not used for long.');
      return;
    }
  }

  function make({ agent, endpoint, parts }: HttpCaller, run: string, connection: Connection): Session {
    return { agent, endpoint, run, parts, connection, exchanges: 0 };
  }

  return {
    begin(caller, bounds) {
      const run = newId('run', clock.now());
      const { parts } = caller;
      const session = make(caller, run, createConnection({ parts, bounds, session: { id: run } }));
      return {
        session,
        register() {
          const hello = session.connection.hello();
          if (hello === undefined) throw new Error('a session is registered after its handshake');
          const id = sessionIdFor(run, hello, caller, signer);
          keep(id, session);
          return id;
        },
      };
    },
    find(id, caller, bounds) {
      const known = sessions.get(id);
      if (known !== undefined && (known.agent !== caller.agent || known.endpoint !== caller.endpoint)) return undefined;
      // What its agent gets may have changed since: then it goes on with that.
      if (known !== undefined && known.parts === caller.parts) {
        keep(id, known);
        return known;
      }
      if (ended.has(id)) return undefined;
      const began = readSessionId(id, caller, signer);
      if (began === undefined) return undefined;
      const { parts } = caller;
      const connection = createConnection({ parts, bounds, session: { id: began.run, resumed: began.hello } });
      const session = make(caller, began.run, connection);
      keep(id, session);
      return session;
    },
    end(id) {
      ended.add(id);
      const [first] = ended;
      if (ended.size > MAX_ENDED && first !== undefined) ended.delete(first);
      if (sessions.get(id) === newest) newest = undefined;
      sessions.delete(id);
    },
    all: () => sessions.values(),
  };
}
