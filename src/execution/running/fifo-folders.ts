import { lstatSync, mkdirSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import { pidNamespaceOf } from './proc.ts';

const SHARED_MEMORY = '/dev/shm';

/**
 * Where the names of pipes may be, the best first: in memory, since names that come and go make every new file of a disk slower
 * (carriers.ts), and in the Writ home. Below, each process has a folder that says whose it is; PIDs mean nothing in another namespace,
 * and containers can share this memory.
 */
export function fifoFolders(home: string, memory = SHARED_MEMORY): readonly string[] {
  const namespace = /\d+/.exec(pidNamespaceOf('self') ?? '')?.[0];
  const ours = `${memory}/writ-${process.getuid?.()}-${namespace}`;
  return [...(namespace !== undefined && isPrivate(ours) ? [ours] : []), `${home}/fifos`];
}

/** Anybody may make folders there, also one of this name: only what is ours and closed to all others is taken. */
function isPrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}
