import { type Dir, type Dirent, opendirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { openUp } from './open-up.ts';
import { SETTINGS_NAMES } from './protected-table.ts';
import { isSettled } from './settled.ts';

/** How far nested repositories and settings are looked for. Beyond it a note says so. */
export interface Reach {
  readonly depth: number;
  readonly folders: number;
}
const NEAR: Reach = { depth: 16, folders: 1000 };
/** After a run that made the near look incomplete: then it is worth some seconds to find what it may have hidden. */
export const FAR: Reach = { depth: 1000, folders: 200_000 };
/** Entries read of one folder. */
const MAX_ENTRIES = 20_000;
/** Workspaces, and repositories of each, that are remembered. */
const MAX_KNOWN = 256;
/** Folders remembered over all Workspaces; when it is full everything is forgotten and read anew. */
const MAX_REMEMBERED = 8000;
/** Holds other people's packages and build results; nobody commits from a repository in there or opens an editor in it. */
export const NOT_ENTERED: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  'target',
  'dist',
  'build',
  'vendor',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.tox',
  '.next',
]);

interface Listing {
  readonly changed: number;
  readonly ino: number;
  readonly complete: boolean;
  readonly has_git: boolean;
  readonly is_git: boolean;
  readonly settings: readonly string[];
  readonly folders: readonly string[];
  readonly sockets: readonly string[];
}

export interface Repositories {
  /** Folders with a `.git` in them, the Workspace itself included. */
  readonly work_trees: readonly string[];
  /** Folders that git takes for a repository as they are (bare ones), so that it obeys their configuration whoever stands in them. */
  readonly bare: readonly string[];
  /** Settings of agents and editors in the folders below (protected-table.ts), those inside of others left out. */
  readonly settings: readonly string[];
  /** Every folder that was looked into. */
  readonly folders: ReadonlySet<string>;
  /** Sockets seen on the way. */
  readonly sockets: readonly string[];
  /** Everything was seen. */
  readonly complete: boolean;
}

export type FindRepositories = (workspace: string, looks?: Looks) => Repositories;

function readEntries(folder: string): { readonly entries: readonly Dirent[]; readonly complete: boolean } {
  const entries: Dirent[] = [];
  try {
    const open = openFolder(folder);
    try {
      for (let entry = open.readSync(); entry; entry = open.readSync()) {
        if (entries.length >= MAX_ENTRIES) return { entries, complete: false };
        entries.push(entry);
      }
    } finally {
      open.closeSync();
    }
  } catch {
    // Not ours to read: the run can't plant anything there either, as it has the same rights.
  }
  return { entries, complete: true };
}

function openFolder(folder: string): Dir {
  try {
    return opendirSync(folder, { bufferSize: 256 });
  } catch (error) {
    if (!openUp(folder)) throw error;
    return opendirSync(folder, { bufferSize: 256 });
  }
}

function readListing(folder: string, changed: number, ino: number): Listing {
  const { entries, complete } = readEntries(folder);
  const names = new Set(entries.map(({ name }) => name));
  return {
    changed,
    ino,
    complete,
    has_git: names.has('.git'),
    is_git: names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs'))),
    settings: entries.filter(({ name }) => SETTINGS_NAMES.has(name)).map(({ name }) => join(folder, name)),
    folders: entries.filter((entry) => entry.isDirectory() && !NOT_ENTERED.has(entry.name)).map(({ name }) => join(folder, name)),
    sockets: entries.filter((entry) => entry.isSocket()).map(({ name }) => join(folder, name)),
  };
}

/**
 * Looks breadth first, so that the budget goes to what is near the top. A folder's listing is remembered until its change time
 * moves, which any entry made, removed or renamed in it does and nobody can set back: one look a folder in place of a read.
 */
export function createRepositoryFinder(reach: Reach = NEAR): FindRepositories {
  const remembered = new Map<string, Listing>();
  // A run could make a thousand folders to keep the search from what lies deeper: what was found once is looked at first.
  const known = new Map<string, Pick<Repositories, 'work_trees' | 'bare' | 'settings'>>();
  const list = (folder: string, looks: Looks): Listing | undefined => {
    const stat = looks.listed(folder);
    if (!stat?.isDirectory()) return undefined;
    const known = remembered.get(folder);
    if (known && known.changed === stat.ctimeMs && known.ino === stat.ino) return known;
    const listing = readListing(folder, stat.ctimeMs, stat.ino);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    // What may still change without another change time isn't remembered yet.
    if (isSettled(stat)) remembered.set(folder, listing);
    return listing;
  };
  return (workspace, looks = PLAIN_LOOKS) => {
    const { look } = looks;
    const before = known.get(workspace);
    const workTrees = new Set(before?.work_trees.filter((folder) => look(join(folder, '.git')) !== undefined));
    const bare = new Set(before?.bare.filter((folder) => look(join(folder, 'HEAD')) !== undefined));
    const settings = new Set(before?.settings.filter((path) => look(path) !== undefined));
    const folders = new Set<string>();
    /** Settings that are folders, and what is in them: one guard covers it all. */
    const covered = new Set<string>();
    const sockets: string[] = [];
    let complete = true;
    let stopped = false;
    let level: readonly string[] = [workspace];
    let seen = 0;
    for (let depth = 0; level.length > 0 && depth <= reach.depth; depth++) {
      const next: string[] = [];
      for (const folder of level) {
        if (++seen > reach.folders) {
          stopped = true;
          break;
        }
        const listing = list(folder, looks);
        if (!listing) continue;
        folders.add(folder);
        complete &&= listing.complete;
        if (listing.has_git) workTrees.add(folder);
        if (listing.is_git) bare.add(folder);
        if (covered.has(dirname(folder)) || (folder !== workspace && SETTINGS_NAMES.has(basename(folder)))) covered.add(folder);
        // The Workspace's own are guarded whether they are there or not.
        else if (folder !== workspace) for (const path of listing.settings) settings.add(path);
        sockets.push(...listing.sockets);
        next.push(...listing.folders);
      }
      level = stopped ? [] : next;
    }
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(workspace, {
      work_trees: [...workTrees].slice(0, MAX_KNOWN),
      bare: [...bare].slice(0, MAX_KNOWN),
      settings: [...settings].slice(0, MAX_KNOWN),
    });
    return {
      work_trees: [...workTrees],
      bare: [...bare],
      settings: [...settings],
      folders,
      sockets,
      complete: complete && !stopped && level.length === 0,
    };
  };
}

/** Git folders of submodules below a git folder: `modules/<name>`, where a name may have slashes. */
export function moduleFolders(commonDir: string, looks: Looks = PLAIN_LOOKS): readonly string[] {
  const { look } = looks;
  const found: string[] = [];
  let level: readonly string[] = look(join(commonDir, 'modules')) ? [join(commonDir, 'modules')] : [];
  let seen = 0;
  for (let depth = 0; level.length > 0 && depth < NEAR.depth; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (++seen > NEAR.folders) return found;
      if (look(join(folder, 'HEAD'))) {
        found.push(folder);
        next.push(join(folder, 'modules'));
      } else {
        looks.listed(folder);
        next.push(...readListing(folder, 0, 0).folders);
      }
    }
    level = next;
  }
  return found;
}
