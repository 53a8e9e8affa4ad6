import type { Socket } from 'node:net';

/** Nothing in either direction for so long: the connection is given up. */
const IDLE_MS = 600_000;
/** One side has said all it had; the other may finish, but not stay. */
const HALF_CLOSED_MS = 60_000;

/** What was refused has this long to read why. */
const LAST_WORDS_MS = 10_000;

/** Says something and hangs up, whether the other side does or not. */
export function sayLast(client: Socket, words: string | Buffer): void {
  client.setTimeout(LAST_WORDS_MS, () => client.destroy());
  client.end(words);
  // What it still sends is of no interest, and its end is waited for.
  client.resume();
}

/** Joins two connections until both are over. Either may close its side first; a slow reader slows the writer, nothing is gathered. */
export function joinSockets(one: Socket, other: Socket): void {
  const end = (): void => {
    one.destroy();
    other.destroy();
  };
  for (const socket of [one, other]) {
    socket.setTimeout(IDLE_MS, end);
    socket.on('error', end);
    socket.on('close', () => {
      // What the peer has already sent is still handed on by `pipe`; a reset has nothing to hand on.
      if (socket.readableEnded && socket.writableFinished) return;
      end();
    });
    socket.on('end', () => {
      one.setTimeout(HALF_CLOSED_MS);
      other.setTimeout(HALF_CLOSED_MS);
    });
  }
  one.pipe(other);
  other.pipe(one);
}
