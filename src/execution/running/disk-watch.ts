import type { Dir } from 'node:fs';
import { lstat, opendir, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../../kernel/logger.ts';
import { openUp } from '../containment/open-up.ts';

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
  input: {
    readonly folders: readonly string[];
    readonly limit_bytes: number;
    readonly since: number;
    /** PIDs of the run: a file that was removed while a process has it open is found there alone. */
    readonly members: () => readonly number[];
    readonly logger: Logger;
  },
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
    const named = await addedBytes(input.folders, input.since, input.limit_bytes);
    const added = named > input.limit_bytes ? named : named + (await namelessBytes(input.members(), input.folders));
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
        .catch((error: unknown) => {
          // What is over may be moved away under a look that has begun.
          if (!stopped) input.logger.warn('the private folders of a run could not be measured', { error: String(error) });
        })
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
    // Removed while we look, or the run took our rights away.
    return openUp(folder) ? opendir(folder).catch(() => undefined) : undefined;
  }
}

async function changedBytes(path: string, since: number): Promise<number> {
  try {
    // Names can be listed where files can't be reached: a folder without the right to pass it.
    const file = await lstat(path).catch(() => (openUp(dirname(path)) ? lstat(path) : undefined));
    return file !== undefined && file.ctimeMs >= since && file.isFile() ? file.blocks * 512 : 0;
  } catch {
    return 0;
  }
}

/** Blocks of files without a name on the disks of these folders, each counted once; a file in a Workspace on the same disk counts too. */
async function namelessBytes(pids: readonly number[], folders: readonly string[]): Promise<number> {
  const disks = new Set(await Promise.all(folders.map(async (folder) => (await stat(folder)).dev)));
  const files = new Map<number, number>();
  let seen = 0;
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (++seen > MAX_ENTRIES) break;
      // Gone with its process while we look.
      const file = await stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined);
      if (file?.isFile() && file.nlink === 0 && disks.has(file.dev)) files.set(file.ino, file.blocks * 512);
    }
  }
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}
