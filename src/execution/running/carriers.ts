import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { carry } from './carrier.ts';

/** Contents that are kept; the one unused for longest goes. Options and filter of a few plans. */
const MAX_KEPT = 16;

/**
 * Files without a name whose content one sandbox after another reads: the options and the filter of a plan. A file that is made and
 * gone with each sandbox costs more than it seems: ext4 without a journal, which virtual machines and build hosts often have, passes over
 * every inode that was freed in the last minute (five, until that is on the disk) when it looks for a free one.
 */
export interface Carriers {
  /** A descriptor with an offset of its own, at the start and for reading only. The caller closes it once the child has its copy. */
  lend(bytes: Uint8Array): number;
  close(): void;
}

interface Kept {
  readonly fd: number;
  readonly seen: string;
}

export function createCarriers(folder: string): Carriers {
  const kept = new Map<string, Kept>();

  const make = (bytes: Uint8Array): Kept => {
    const writable = carry(folder, bytes);
    try {
      // From here on nobody has it open for writing, and only root could open it so again.
      fchmodSync(writable, 0o400);
      const fd = openAnew(writable);
      return { fd, seen: sightOf(fd) };
    } finally {
      closeSync(writable);
    }
  };

  const drop = (key: string): void => {
    const one = kept.get(key);
    if (one === undefined) return;
    kept.delete(key);
    closeSync(one.fd);
  };

  return {
    lend(bytes) {
      const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      let one = kept.get(key);
      // Each use looks whether it is still what was written: a change of any kind moves a time that nobody can set back.
      if (one !== undefined && sightOf(one.fd) !== one.seen) {
        drop(key);
        one = undefined;
      }
      one ??= make(bytes);
      kept.delete(key);
      kept.set(key, one);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) drop(oldest);
      return openAnew(one.fd);
    },
    close() {
      for (const key of [...kept.keys()]) drop(key);
    },
  };
}

function openAnew(fd: number): number {
  return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY);
}

function sightOf(fd: number): string {
  const { size, mode, ctimeNs } = fstatSync(fd, { bigint: true });
  return `${size}:${mode}:${ctimeNs}`;
}
