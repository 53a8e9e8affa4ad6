import { read } from 'node:fs';
import { promisify } from 'node:util';

const readAt = promisify(read);

/** Up to `length` bytes from `position`, fewer only at the end of the file. Memory is taken as the file needs it. */
export async function readBytes(fd: number, position: number, length: number, signal: AbortSignal): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(Math.min(length, FIRST));
  let size = 0;
  while (size < length) {
    signal.throwIfAborted();
    if (size === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(Math.min(length - size, size * 3))]);
    const { bytesRead } = await readAt(fd, bytes, size, Math.min(bytes.length - size, PIECE), position + size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return bytes.subarray(0, size);
}

const FIRST = 64 * 1024;
const PIECE = 1024 * 1024;

/** Line feeds are counted so far into a file; beyond that the number of lines isn't known. */
export const MAX_COUNTED_BYTES = 512 * 1024 * 1024;

export interface LineCount {
  /** Undefined when the file is larger than what is counted. */
  readonly total: number | undefined;
  /** Where the asked line begins; undefined when it lies beyond what was counted. */
  readonly offset: number | undefined;
}

/** Counts the lines of a large file without keeping it, and finds where one of them (from 1) begins. */
export async function countLines(fd: number, line: number, signal: AbortSignal): Promise<LineCount> {
  const piece = Buffer.allocUnsafe(PIECE);
  let feeds = 0;
  let offset = line === 1 ? 0 : undefined;
  let last = 10;
  for (let position = 0; position < MAX_COUNTED_BYTES; ) {
    signal.throwIfAborted();
    const { bytesRead } = await readAt(fd, piece, 0, PIECE, position);
    if (bytesRead === 0) return { total: feeds + (last === 10 ? 0 : 1), offset };
    const bytes = piece.subarray(0, bytesRead);
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
      feeds++;
      if (feeds === line - 1) offset = position + at + 1;
    }
    last = bytes[bytesRead - 1] ?? 10;
    position += bytesRead;
  }
  return { total: undefined, offset };
}
