import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How much one `fill` writes: little enough that a write arriving meanwhile hardly waits. */
const SLICE = 2 * 1024 * 1024;
/** What of it is in memory: the same bytes are filled and written again and again, since a thread that then sleeps keeps its garbage. */
const PIECE = 64 * 1024;

/**
 * Disk space that only essential writes may use: a file of real blocks that is emptied when the disk is full. While it is empty, the disk
 * counts as full for everybody else, so that the freed space is not eaten by new work. All processes of a home share the file.
 */
export interface Reserve {
  /** Given up and not yet restored. */
  spent(): boolean;
  /** Gives the space up. False when there was none to give. */
  release(): boolean;
  /** Writes one slice if the disk has room for the reserve and as much again. True: call again, there is more to do. */
  fill(): boolean;
}

/** Beside the database. */
export function reserveFile(database: string): string {
  return join(dirname(database), 'disk-reserve');
}

export function createReserve(file: string, bytes: number): Reserve {
  // Absent means never made; empty means spent.
  const size = (): number | undefined => {
    try {
      return statSync(file, { throwIfNoEntry: false })?.size;
    } catch {
      // Links in a circle, a disk that fails: nothing that could be given up. The next slice takes the place of what is there.
      return undefined;
    }
  };
  return {
    spent: () => size() === 0,
    release() {
      const had = size() ?? 0;
      if (had === 0) return false;
      truncateSync(file, 0);
      return true;
    },
    fill() {
      const has = size() ?? 0;
      if (has >= bytes) return false;
      const { bavail, bsize } = statfsSync(dirname(file));
      if (bavail * bsize < 2 * bytes - has) return false;
      const most = Math.min(SLICE, bytes - has);
      try {
        append(file, most);
      } catch {
        // The disk filled up in between. What was written would count as a reserve that isn't one: none is the honest state.
        rmSync(file, { force: true });
        return false;
      }
      return has + most < bytes;
    },
  };
}

/** Random bytes, because a file system that compresses or skips zeros would reserve nothing. */
function append(file: string, bytes: number): void {
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE, bytes));
  const fd = openSync(file, 'a', 0o600);
  try {
    for (let left = bytes; left > 0; ) left -= writeSync(fd, randomFillSync(piece), 0, Math.min(piece.length, left));
  } finally {
    closeSync(fd);
  }
}
