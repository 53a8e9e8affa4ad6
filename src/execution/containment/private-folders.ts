import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { RunAs } from './run-as.ts';

/** The folders on the host that one Workspace's runs share, kept from run to run. */
export interface PrivateFolders {
  /** Becomes HOME. Belongs to the run: Writ never writes into it, since a run could have planted a link there. */
  readonly home: string;
  /** Becomes /tmp. */
  readonly tmp: string;
  /** Files that Writ generates for the sandbox's /etc; the run sees them read-only. */
  readonly etc: string;
}

/** Used when Writ is root and a run becomes another user: the Writ home (0700, under /root) can't be reached by that user. */
export const SHARED_ROOT = '/var/lib/writ';

/**
 * Where they are: `<Writ home>/private/<hash of the Workspace's path>`, or for a run that drops to another uid
 * `/var/lib/writ/<uid>/<hash of Writ home and path>`: bubblewrap resolves every source as the run's own user, through
 * an open descriptor too, so the way there must be walkable (0711, so that nobody can list it) for a user who isn't root.
 */
export function privateFolders(config: Pick<ExecutionConfig, 'home' | 'shared_root'>, workspace: string, as: RunAs): PrivateFolders {
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);
  const base = as.drop
    ? join(config.shared_root ?? SHARED_ROOT, String(as.uid), hash(`${config.home}\0${workspace}`))
    : join(config.home, 'private', hash(workspace));
  return { home: join(base, 'home'), tmp: join(base, 'tmp'), etc: join(base, 'etc') };
}

/** Makes a folder ours and of this mode, or refuses: a link or somebody else's folder in its place is an attack or a mix-up. */
async function ensureFolder(path: string, mode: number, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const stat = await lstat(path);
  if (!stat.isDirectory()) {
    throw new AppError('containment_unavailable', `${path} is not a folder, so no private folder can be made there.`, {
      fix: `Remove ${path} and try again.`,
    });
  }
  if (stat.uid !== owner.uid) {
    if (process.getuid?.() !== 0 || stat.uid !== 0) {
      throw new AppError('containment_unavailable', `${path} belongs to uid ${stat.uid}, not to uid ${owner.uid}.`, {
        fix: `Remove ${path}, or give it back: chown ${owner.uid} ${path}`,
      });
    }
    await chown(path, owner.uid, owner.gid);
  }
  if ((stat.mode & 0o7777) !== mode) await chmod(path, mode);
}

/** Makes what is missing. The parents of `home` and `tmp` belong to Writ, so a run can't swap them. */
export async function ensurePrivateFolders(folders: PrivateFolders, as: RunAs): Promise<void> {
  const self = { uid: process.getuid?.() ?? as.uid, gid: process.getgid?.() ?? as.gid };
  const base = join(folders.home, '..');
  const walkable = as.drop ? 0o711 : 0o700;
  for (const parent of as.drop ? [join(base, '..', '..'), join(base, '..'), base] : [join(base, '..'), base]) {
    await ensureFolder(parent, walkable, self);
  }
  await ensureFolder(folders.home, 0o700, as);
  await ensureFolder(folders.tmp, 0o1777, as);
  await ensureFolder(folders.etc, as.drop ? 0o755 : 0o700, self);
}

/** Writes generated files that changed, each at once (a run that is starting sees the old or the new text, never half). */
export async function writeGenerated(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(
    Object.entries(files).map(async ([name, text]) => {
      const path = join(folder, name);
      if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
      const fresh = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
      await writeFile(fresh, text, { mode: 0o644, flag: 'wx' });
      await rename(fresh, path);
    }),
  );
}
