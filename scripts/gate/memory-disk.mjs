import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../bootstrap/run.mjs';

/** Starts `sh -c` in a mount namespace: what is mounted there is gone with the last process in it. */
export const OWN_MOUNTS = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c'];
export const MOUNT_MEMORY_DISK = 'mount -t tmpfs -o mode=1777 tmpfs';

const ENTER = [...OWN_MOUNTS, `${MOUNT_MEMORY_DISK} "$1" && shift && exec "$@"`, 'sh'];

/**
 * Runs `work` with what it takes to start a command whose temporary files are in memory. The tests make and remove files by the
 * hundred thousand, which took a tenth of all processor time on a disk (docs/decisions/0036). Without the rights to mount, they are
 * where they always are.
 */
export async function onMemoryDisk(work) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-t-'));
  try {
    const possible = process.getuid?.() === 0 && (await run([...ENTER, folder, 'true'], { quiet: true })).code === 0;
    if (!possible) return await work({ variables: {}, around: (argv) => argv });
    return await work({ variables: { TMPDIR: folder }, around: (argv) => [...ENTER, folder, ...argv] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
