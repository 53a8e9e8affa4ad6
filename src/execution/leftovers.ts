import { readdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../kernel/errors.ts';
import { look } from './containment/look.ts';
import { SHARED_ROOT } from './containment/private-folders.ts';
import { sweepProbes } from './containment/probe/scratch.ts';
import type { ExecutionConfig } from './core-types.ts';
import { fifoFolders } from './running/fifo-folders.ts';
import { bootId, judge } from './running/identity.ts';

type Places = Pick<ExecutionConfig, 'home' | 'shared_root'>;

/** What is made for moments only is nobody's any more after this. */
const MOMENT_MS = 60_000;

interface Kind {
  readonly folders: (places: Places) => readonly string[];
  /** How much of it there can be while whoever made it lives. */
  readonly bound: string;
  isLeft(name: string, stat: Stats, at: { readonly boot_id: string; readonly now: number }): boolean;
}

const inHome =
  (name: string): Kind['folders'] =>
  ({ home }) => [join(home, name)];

const isOld = (stat: Stats, now: number): boolean => now - stat.mtimeMs > MOMENT_MS;

/**
 * What a process that was killed can leave beside the folders of executions (those are recovered, not swept) and the scratch of a
 * probe. `logs/` needs nothing: it holds two files, which runner/log.ts keeps small.
 */
const KINDS: readonly Kind[] = [
  {
    folders: ({ home }) => fifoFolders(home),
    bound: '80 names a runner or a connection: they are made in batches of 64 when fewer than 16 are left',
    isLeft(name, _stat, { boot_id }) {
      const [, pid, start] = /^(\d+)-(\d+)(?:-[0-9a-f]+)?$/.exec(name) ?? [];
      return pid !== undefined && start !== undefined && ['GONE', 'FOREIGN'].includes(judge({ boot_id, pid: Number(pid), start }));
    },
  },
  {
    folders: inHome('gates'),
    bound:
      'two or three files a start, from their making to the next call, which unlinks them; a folder of pipes a container, until it is at its gate',
    isLeft: (name, stat, { now }) => /^(?:\.carrier-|box-)/.test(name) && isOld(stat, now),
  },
  {
    folders: inHome('warm'),
    bound: 'one record a waiting sandbox, swept with it; an empty one was never followed by a sandbox',
    isLeft: (_name, stat, { now }) => stat.isFile() && stat.size === 0 && isOld(stat, now),
  },
  {
    folders: inHome('spares'),
    bound: 'one folder of empty files a process',
    isLeft: (_name, stat, { now }) => isOld(stat, now),
  },
  {
    folders: inHome('proofs'),
    bound: 'one file a mode, and one more while it is written',
    isLeft: (name, stat, { now }) => name.startsWith('.') && isOld(stat, now),
  },
  {
    folders: ({ home, shared_root = SHARED_ROOT }) => [
      join(home, 'private'),
      ...namesIn(shared_root)
        .filter((name) => /^\d+$/.test(name))
        .map((uid) => join(shared_root, uid)),
    ],
    bound: 'one unfinished snapshot of /etc a runner',
    isLeft: (name, stat, { now }) => name.startsWith('.etc-draft-') && isOld(stat, now),
  },
];

/** At the start of a Writ, by any number of processes at once: what is already gone is gone. */
export function sweepLeftovers(places: Places, now: number): void {
  const boot_id = bootId();
  if (boot_id === undefined) return;
  for (const { folders, isLeft } of KINDS) {
    for (const folder of folders(places)) {
      for (const name of namesIn(folder)) {
        const path = join(folder, name);
        const stat = look(path);
        if (stat && isLeft(name, stat, { boot_id, now })) rmSync(path, { recursive: true, force: true });
      }
    }
  }
  sweepProbes(places, boot_id);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    // Not there yet, or the shared place of another user's root, where nothing is ours.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errnoOf(thrown) ?? '')) return [];
    throw thrown;
  }
}
