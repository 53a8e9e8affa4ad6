import type { Place } from '../../helpers/writ-process.ts';
import type { Findings } from '../kit/findings.ts';
import { type Answer, type Connection, createConnection } from './connections.ts';
import { createFolderBook, type Found } from './folders.ts';
import type { Planned, Victim } from './plan.ts';
import { killVictims } from './processes.ts';

/** A command and what its caller knows of it. */
export interface Sent extends Planned {
  readonly answer: Answer;
}

export interface Storm {
  readonly sent: readonly Sent[];
  /** Every execution that was ever seen, as it is now. */
  readonly executions: () => readonly Found[];
  readonly kills: Readonly<Record<Victim, number>>;
  readonly starts: number;
}

/** Folders of answered runs are kept up to 200: looked at long before that. */
const LOOK_EVERY = 30;
const CALLS_EACH = 2;

/** Sends all commands over several connections, two at a time on each, and kills as planned. */
export async function runStorm(
  planned: readonly Planned[],
  options: { readonly place: Place; readonly argv: readonly string[]; readonly connections: number; readonly findings: Findings },
): Promise<Storm> {
  const { place, findings } = options;
  const connections = Array.from({ length: options.connections }, () => createConnection(place, options.argv));
  const book = createFolderBook(place.home, (text) => findings.add('an end was written over', text));
  const kills = { mcp: 0, runner: 0, all: 0 };
  const sent: Sent[] = [];
  const queue = planned.toReversed();

  const work = async (connection: Connection): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const command = next;
      const killed = Promise.withResolvers<void>();
      const answer = await connection.call('shell', command.arguments, {
        ...(command.cancel_after_ms === undefined ? {} : { cancel_after_ms: command.cancel_after_ms }),
        sent() {
          const { kill } = command;
          if (kill === undefined) return killed.resolve();
          setTimeout(() => {
            kills[kill.victim] += killVictims(place.home, kill.victim, kill.which);
            killed.resolve();
          }, kill.after_ms);
        },
      });
      await killed.promise;
      sent.push({ ...command, answer });
      if (sent.length % LOOK_EVERY === 0) book.look();
    }
  };
  await Promise.all(connections.flatMap((connection) => Array.from({ length: CALLS_EACH }, () => work(connection))));
  await Promise.all(connections.map((connection) => connection.end()));
  book.look();
  return {
    sent,
    executions() {
      book.look();
      return book.found();
    },
    kills,
    starts: connections.reduce((sum, connection) => sum + connection.starts(), 0),
  };
}
