import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import type { Ends } from '../running/prepare.ts';

export interface Streams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/**
 * Our ends of named pipes, not Node's own: those are sockets, on which `> /dev/stderr` fails inside, and Node empties them when the
 * program exits, whether somebody reads or not.
 */
export function openStreams(ends: Ends): Streams {
  if (ends.kind !== 'pipes' || ends.stdin === undefined) throw new AppError('internal', 'A program that stays has three pipes.');
  const read = (fd: number): Socket => quiet(new Socket({ fd, readable: true, writable: false }));
  // A pipe knows no shutdown: only its last writer's going is the end of the input. A socket that can do nothing more destroys itself.
  const stdin = quiet(new Socket({ fd: ends.stdin, readable: false, writable: true }));
  return { stdin, stdout: read(ends.stdout), stderr: read(ends.stderr) };
}

/** That the other side is gone is told by `ended`, and to a writer by its callback; nobody has to listen for it. */
function quiet(socket: Socket): Socket {
  return socket.on('error', () => undefined);
}
