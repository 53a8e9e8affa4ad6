import { closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../kernel/errors.ts';

/** First look at the end of the file; doubled until the wanted line is in it. */
const TAIL = 64 * 1024;

/** Larger than this the file is not read (a year of checkpoints, one a minute, is about 300 MiB). */
const MAX_FILE = 512 * 1024 * 1024;

export function checkpointFile(directory: string): string {
  return join(directory, 'checkpoints.jsonl');
}

/**
 * Adds the line unless it is there already. A crash or a full disk may have left the line half written at the end: then the rest of it is
 * added. Any other unfinished end is not ours to mend; the line goes below it, and `verify` names the damage. Flushed to disk on return.
 */
export function fileLine(directory: string, line: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(checkpointFile(directory), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const { size, mode } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw notAFile(checkpointFile(directory));
    const end = readEnd(fd, size, Buffer.byteLength(line) + 2);
    const lines = end.split('\n');
    const unfinished = lines.pop() ?? '';
    if (!lines.includes(line)) writeAll(fd, rest(line, unfinished));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function rest(line: string, unfinished: string): string {
  if (`${line}\n`.startsWith(unfinished)) return `${line}\n`.slice(unfinished.length);
  return `\n${line}\n`;
}

/** The end of the file from a line's start on, long enough to hold a line of `atLeast` bytes and what others filed after it. */
function readEnd(fd: number, size: number, atLeast: number): string {
  const length = Math.min(size, Math.max(TAIL, 2 * atLeast));
  const buffer = Buffer.alloc(length);
  for (let have = 0; have < length; ) {
    const got = readSync(fd, buffer, have, length - have, size - length + have);
    if (got === 0) break;
    have += got;
  }
  const text = buffer.toString('utf8');
  if (length === size) return text;
  // Cut in the middle of a line: that first piece is nobody's line. A file of one endless line keeps its end as it is.
  const start = text.indexOf('\n');
  return start === -1 ? text : text.slice(start + 1);
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The whole file as text; empty while there is none. */
export function readCheckpointFile(directory: string): string {
  const file = checkpointFile(directory);
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return '';
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ELOOP') throw notAFile(file);
    throw thrown;
  }
  try {
    const { mode, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw notAFile(file);
    if (size > MAX_FILE) {
      throw new AppError('store_unavailable', `${file} is ${size} bytes, more than a checkpoint file can be.`, {
        fix: 'Look at what wrote into it; the database holds the same checkpoints.',
      });
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function notAFile(file: string): AppError {
  return new AppError('store_unavailable', `${file} is not a regular file, so no checkpoint is read from or written to it.`, {
    fix: 'Remove what is there; the checkpoints in the database are written to a new file.',
  });
}
