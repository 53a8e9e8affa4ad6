import { writeSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';

/** More waiting input than this is refused. */
export const MAX_INPUT_BYTES = 1024 * 1024;
/** A terminal takes about 4 KiB from somebody who types faster than the command reads; the rest is tried again after this. */
const RETRY_MS = 10;

export interface TerminalInput {
  /** False when too much is waiting already: nothing of it was taken. */
  send(bytes: Uint8Array): boolean;
  close(): void;
}

/**
 * Writes to the non-blocking side of a terminal in order. Not through a stream: Node writes to terminals blockingly, so that one command
 * that doesn't read its input would stop this whole process.
 */
export function createTerminalInput(master: number): TerminalInput {
  const queue: Buffer[] = [];
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const close = (): void => {
    closed = true;
    clearTimeout(timer);
    queue.length = 0;
  };

  const flush = (): void => {
    timer = undefined;
    for (let next = queue[0]; next !== undefined && !closed; next = queue[0]) {
      let taken = 0;
      try {
        taken = writeSync(master, next);
      } catch (error) {
        // EIO: nobody is at the other side any more, which the end of the run will tell.
        if (errnoOf(error) !== 'EAGAIN') {
          close();
          return;
        }
      }
      waiting -= taken;
      if (taken === next.length) queue.shift();
      else queue[0] = next.subarray(taken);
      if (taken === 0) {
        timer = setTimeout(flush, RETRY_MS);
        return;
      }
    }
  };

  return {
    send(bytes) {
      if (closed || waiting + bytes.length > MAX_INPUT_BYTES) return false;
      queue.push(Buffer.from(bytes));
      waiting += bytes.length;
      if (timer === undefined) flush();
      return true;
    },
    close,
  };
}
