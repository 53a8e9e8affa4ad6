import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { type Bounds, type Connection, createConnection } from '../connection.ts';
import type { HttpCaller, ServerParts, Signer } from '../types.ts';
import type { Exchange } from './exchange.ts';
import { readSessionId, sessionIdFor } from './session-ids.ts';

/** One client of the handshake revisions. */
export interface Session {
  readonly connection: Connection;
  readonly parts: ServerParts;
  /** Its HTTP requests whose response is open or whose call still runs. */
  readonly exchanges: Set<Exchange>;
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
  /** In the order of last use. The key is id, agent and endpoint: who shows another's id has none. */
  const sessions = new Map<string, Session>();
  /** Those that the client deleted. After a restart they would be let in again: harmless, since an id opens nothing by itself. */
  const ended = new Set<string>();

  function keep(key: string, session: Session): void {
    sessions.delete(key);
    sessions.set(key, session);
    if (sessions.size <= MAX_SESSIONS) return;
    for (const [oldest, each] of sessions) {
      if (each.exchanges.size > 0) continue;
      sessions.delete(oldest);
      return;
    }
  }

  return {
    begin(caller, bounds) {
      const run = newId('run', clock.now());
      const { parts } = caller;
      const session: Session = { parts, connection: createConnection({ parts, bounds, session: { id: run } }), exchanges: new Set() };
      return {
        session,
        register() {
          const hello = session.connection.hello();
          if (hello === undefined) throw new Error('a session is registered after its handshake');
          const id = sessionIdFor(run, hello, caller, signer);
          keep(keyOf(id, caller), session);
          return id;
        },
      };
    },
    find(id, caller, bounds) {
      const key = keyOf(id, caller);
      const known = sessions.get(key);
      // What its agent gets may have changed since: then it goes on with that.
      if (known !== undefined && known.parts === caller.parts) {
        keep(key, known);
        return known;
      }
      if (ended.has(id)) return undefined;
      const began = readSessionId(id, caller, signer);
      if (began === undefined) return undefined;
      const { parts } = caller;
      const connection = createConnection({ parts, bounds, session: { id: began.run, resumed: began.hello } });
      const session: Session = { parts, connection, exchanges: new Set() };
      keep(key, session);
      return session;
    },
    end(id) {
      ended.add(id);
      const [first] = ended;
      if (ended.size > MAX_ENDED && first !== undefined) ended.delete(first);
      for (const key of sessions.keys()) if (key.startsWith(`${id}\n`)) sessions.delete(key);
    },
    all: () => sessions.values(),
  };
}

function keyOf(id: string, { agent, endpoint }: HttpCaller): string {
  return `${id}\n${agent}\n${endpoint}`;
}
