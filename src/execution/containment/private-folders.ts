import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig } from '../core-types.ts';
import { kindOf, look } from './look.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import type { RunAs } from './run-as.ts';

/** The folders on the host that one Workspace's runs share, kept from run to run. */
export interface PrivateFolders {
  /** Becomes HOME. Belongs to the run: Writ never writes into it, since a run could have planted a link there. */
  readonly home: string;
  /** Becomes /tmp. */
  readonly tmp: string;
  /** Holds sets of generated files for the sandbox's /etc, each named by its content. */
  readonly generated: string;
  /** Shared by all Workspaces of the same root: holds snapshots of /etc. */
  readonly shared: string;
}

/** Used when Writ is root and a run becomes another user: the Writ home (0700, often under /root) can't be reached by them. */
export const SHARED_ROOT = '/var/lib/writ';
/** Sets of generated files kept per Workspace; a set that goes while a run uses it stays mounted there. */
const KEPT_SETS = 8;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

/**
 * Where they are: `<Writ home>/private/<hash of the Workspace's path>`, or for a run that drops to another uid
 * `/var/lib/writ/<uid>/<hash of Writ home and path>`. bubblewrap 0.8 looks every source up by its path as the run's own user,
 * one given as an open descriptor too (it resolves /proc/self/fd/N first), so every folder on the way must let that user pass:
 * 0711, which lets nobody list it.
 */
export function privateFolders(
  config: Pick<ExecutionConfig, 'home' | 'shared_root'>,
  workspace: string,
  as: Pick<RunAs, 'uid' | 'drop'>,
): PrivateFolders {
  const base = as.drop
    ? join(config.shared_root ?? SHARED_ROOT, String(as.uid), hash(`${config.home}\0${workspace}`))
    : join(config.home, 'private', hash(workspace));
  return { home: join(base, 'home'), tmp: join(base, 'tmp'), generated: join(base, 'generated'), shared: dirname(base) };
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Makes a folder, or sees that it is a real one of the right owner: a link or somebody else's in its place is an attack or a mix-up. */
function ensureFolder(path: string, mode: number, owner: Owner, { look }: Looks): void {
  if (look(path) === undefined) {
    mkdirSync(path, { mode, recursive: false });
    if (process.getuid?.() === 0 && owner.uid !== 0) chownSync(path, owner.uid, owner.gid);
    // mkdir's mode is cut by the umask.
    chmodSync(path, mode);
  }
  const stat = look(path);
  if (!stat?.isDirectory()) {
    throw new AppError('containment_unavailable', `${path} is not a folder, so no private folder can be made there.`, {
      fix: `Remove ${path} and try again.`,
    });
  }
  if (stat.uid !== owner.uid) {
    throw new AppError('containment_unavailable', `${path} belongs to uid ${stat.uid} and not to uid ${owner.uid}.`, {
      fix: `Remove ${path}, or give it back: chown -R ${owner.uid} ${path}`,
    });
  }
  if ((stat.mode & 0o7777) !== mode) chmodSync(path, mode);
}

/** Two plans may make the same folder at once; the second finds it there. */
function settle(path: string, mode: number, owner: Owner, looks: Looks): void {
  try {
    ensureFolder(path, mode, owner, looks);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    ensureFolder(path, mode, owner, looks);
  }
}

/** Makes what is missing. The parents of `home` and `tmp` belong to Writ, so that a run can't swap them. */
export function ensurePrivateFolders(folders: PrivateFolders, as: RunAs, looks: Looks = PLAIN_LOOKS): void {
  const self = { uid: process.getuid?.() ?? as.uid, gid: process.getgid?.() ?? as.gid };
  const base = dirname(folders.home);
  const mode = as.drop ? 0o711 : 0o700;
  for (const parent of as.drop ? [dirname(dirname(base)), dirname(base), base] : [dirname(base), base]) settle(parent, mode, self, looks);
  settle(folders.home, 0o700, as, looks);
  settle(folders.tmp, 0o1777, as, looks);
  settle(folders.generated, mode, self, looks);
}

/**
 * Writes a set of generated files into a folder named by their content, so that a set never changes under a run that is about to
 * mount it, and a plan's key covers what is in the files. Returns the folder.
 */
export function writeGenerated(folders: PrivateFolders, files: Readonly<Record<string, string>>, looks: Looks = PLAIN_LOOKS): string {
  const set = join(folders.generated, hash(JSON.stringify(files)));
  if (looks.kindOf(set) === 'folder') return set;
  const draft = mkdtempSync(join(folders.generated, '.draft-'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(draft, name), text);
    chmodSync(join(draft, name), 0o644);
  }
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, set);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // The same set came from another plan at the same moment.
    if (kindOf(set) !== 'folder') throw error;
  }
  forgetOldSets(folders.generated, set);
  return set;
}

function forgetOldSets(folder: string, keep: string): void {
  const sets = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => path !== keep)
    .map((path) => ({ path, age: look(path)?.ctimeMs ?? 0 }))
    .toSorted((a, b) => b.age - a.age);
  for (const { path } of sets.slice(KEPT_SETS)) rmSync(path, { recursive: true, force: true });
}
