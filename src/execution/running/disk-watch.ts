import { constants, type Dir } from 'node:fs';
import { lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../kernel/logger.ts';

/** How often the disk is asked for its free space, which costs next to nothing. */
const LOOK_MS = 250;
/** A look into the folders themselves comes at the latest after this, and never takes more than a twentieth of the time. */
const WALK_MS = 10_000;
const WALK_SHARE = 20;
/** Folders with more entries are counted so far and no further. */
const MAX_ENTRIES = 200_000;

export interface DiskWatch {
  stop(): void;
}

/**
 * Ends a run that adds more to its private folders than it may. What it added is what changed since it started: the blocks of files whose
 * change time is later, so that no count has to be taken before the command may start. The free space of the disk tells when looking is
 * worth while.
 */
export function watchDisk(
  input: { readonly folders: readonly string[]; readonly limit_bytes: number; readonly since: number; readonly logger: Logger },
  exceeded: () => void,
): DiskWatch {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let free: number | undefined;
  let nextWalk = performance.now() + WALK_MS;

  const look = async (): Promise<void> => {
    const now = await freeBytes(input.folders);
    free ??= now;
    const suspicious = now < free - input.limit_bytes / 2;
    if (!suspicious && performance.now() < nextWalk) return;
    const begun = performance.now();
    const added = await addedBytes(input.folders, input.since, input.limit_bytes);
    if (!stopped && added > input.limit_bytes) exceeded();
    const took = performance.now() - begun;
    nextWalk = performance.now() + Math.max(WALK_MS, took * WALK_SHARE);
    // Somebody else's growth must not make us walk four times a second.
    if (suspicious) free = Math.max(now, free - Math.max(input.limit_bytes / 8, 1));
  };

  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => input.logger.warn('the private folders of a run could not be measured', { error: String(error) }))
        .finally(next);
    }, LOOK_MS);
  };
  next();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function freeBytes(folders: readonly string[]): Promise<number> {
  const disks = await Promise.all(folders.map((folder) => statfs(folder)));
  return Math.min(...disks.map((disk) => disk.bavail * disk.bsize));
}

/** Stops counting once `enough` is exceeded. Links aren't followed; files seen twice (hard links) count twice. */
export async function addedBytes(folders: readonly string[], since: number, enough: number): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const directory = await openIfThere(folder);
    if (directory === undefined) continue;
    for await (const entry of directory) {
      if (++entries > MAX_ENTRIES || bytes > enough) return bytes;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) bytes += await changedBytes(path, since);
    }
  }
  return bytes;
}

async function openIfThere(folder: string): Promise<Dir | undefined> {
  try {
    return await opendir(folder);
  } catch {
    // Removed while we look, or closed to us; either way there is nothing to count.
    return undefined;
  }
}

async function changedBytes(path: string, since: number): Promise<number> {
  try {
    const file = await lstat(path);
    return file.ctimeMs >= since && (file.mode & constants.S_IFMT) === constants.S_IFREG ? file.blocks * 512 : 0;
  } catch {
    return 0;
  }
}
