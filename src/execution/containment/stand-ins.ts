import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import type { RunSpec } from '../types.ts';
import { kindOf, look } from './look.ts';
import { within } from './mount.ts';
import { openUp } from './open-up.ts';
import { removeTree } from './remove-tree.ts';
import type { RunAs } from './run-as.ts';

/** Of Linux, missing in Node's table: a handle to a place that needs no right to read it. */
const O_PATH = 0o10000000;

/** Where a sandbox has folders of its own that a run needs: nothing stands in for these. */
const FURNISHED = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/tmp',
  '/var/tmp',
  '/nix',
];
/** Right in HOME, which a run has of its own, nothing can stand in; but some programs can be told that their file is somewhere else. */
const TOLD: Readonly<Record<string, string>> = { '.gitconfig': 'GIT_CONFIG_GLOBAL' };
const TOLD_AT = '/run/opened';
const MOST_NAMED = 5;

/** A folder of ours that stands, in one sandbox, for the folder that opened files lie in. */
export interface StandIn {
  /** What it stands for; our folder lies in it, so that both are on one file system. */
  readonly folder: string;
  readonly name: string;
  /** Hard links in it, and the inodes they were. As text: they don't fit into JSON. */
  readonly files: readonly { readonly name: string; readonly ino: string }[];
}

export interface StandInFacts {
  readonly as: Pick<RunAs, 'uid' | 'gid' | 'drop'>;
  readonly user_home: string;
  readonly private_home: string;
}

/**
 * A file that is bound by itself can be written but not replaced: nothing can be made beside it, and no rename goes over a mount. Most
 * programs replace (`sed -i`, `mv`, editors, `git config`). So where the sandbox has nothing in that folder, it gets a writable one of ours
 * with a hard link to the file. What is written goes to the file at once, since it is the same one; what was put in its place is put in its
 * place outside when the run is over. Nothing else of the real folder is there, and nothing else that is made there stays.
 *
 * Only where the run's user might do the same outside; anywhere else the file is bound as it is.
 */
export function makeStandIns(
  spec: Pick<RunSpec, 'openings' | 'workspaces'>,
  facts: StandInFacts,
): { readonly made: readonly StandIn[]; readonly openings: RunSpec['openings'] } {
  const folders = new Map<string, string[]>();
  for (const { path, access, target } of spec.openings) {
    const folder = dirname(path);
    if (access !== 'write' || target !== undefined || kindOf(path) !== 'file') continue;
    if (!(isFree(folder, spec, facts) || (variableOf(path, facts) !== undefined && mayReplaceIn(folder, facts)))) continue;
    folders.set(folder, [...(folders.get(folder) ?? []), basename(path)]);
  }
  const made = [...folders].flatMap(([folder, names]) => makeStandIn(folder, names, facts) ?? []);
  return {
    made,
    openings: spec.openings.map((opening) => {
      const stand_in = made.find(({ folder, files }) => files.some(({ name }) => join(folder, name) === opening.path));
      if (stand_in === undefined || opening.access !== 'write') return opening;
      const folder = join(stand_in.folder, stand_in.name);
      const variable = variableOf(opening.path, facts);
      return { ...opening, through: variable === undefined ? { folder, at: stand_in.folder } : { folder, at: TOLD_AT, variable } };
    }),
  };
}

function variableOf(path: string, { user_home }: StandInFacts): string | undefined {
  const name = basename(path);
  return dirname(path) === user_home && Object.hasOwn(TOLD, name) ? TOLD[name] : undefined;
}

function isFree(folder: string, { openings, workspaces }: Pick<RunSpec, 'openings' | 'workspaces'>, facts: StandInFacts): boolean {
  const { user_home, private_home } = facts;
  if (within(user_home, folder) || workspaces.some(({ path }) => within(folder, path))) return false;
  // It is open itself, or something that holds it.
  if (openings.some(({ path }) => within(folder, path))) return false;
  const free = within(folder, user_home)
    ? isEmpty(join(private_home, folder.slice(user_home.length)))
    : !FURNISHED.some((one) => within(folder, one));
  return free && mayReplaceIn(folder, facts);
}

/** What the run has there of its own would be hidden from it. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch (thrown) {
    return errnoOf(thrown) === 'ENOENT';
  }
}

/** Where only an owner may replace (the sticky bit), it isn't looked into who that is. */
function mayReplaceIn(folder: string, { as }: StandInFacts): boolean {
  const stat = look(folder);
  if (stat === undefined || !stat.isDirectory() || (stat.mode & 0o1000) !== 0) return false;
  if (process.getuid?.() !== 0) {
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }
  const shift = stat.uid === as.uid ? 6 : stat.gid === as.gid ? 3 : 0;
  return ((stat.mode >> shift) & 3) === 3;
}

/** Undefined where it can't be had (no hard links there, another's file): then the file is bound as it is. */
function makeStandIn(folder: string, names: readonly string[], { as }: StandInFacts): StandIn | undefined {
  let held: number | undefined;
  let own: string | undefined;
  try {
    held = openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const here = `/proc/self/fd/${held}`;
    if (readlinkSync(here) !== folder) return undefined;
    own = mkdtempSync(`${here}/.writ-`);
    const files = [...new Set(names)].map((name) => {
      linkSync(`${here}/${name}`, `${own}/${name}`);
      return { name, ino: String(lstatSync(`${own}/${name}`, { bigint: true }).ino) };
    });
    if (as.drop) chownSync(own, as.uid, as.gid);
    return { folder, name: basename(own), files };
  } catch {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
    return undefined;
  } finally {
    if (held !== undefined) closeSync(held);
  }
}

/**
 * When the run's tree is dead, or it never started: what stands in place of a file goes to its place outside, and the folder of ours goes. Again and
 * again is once, for a process that finds the record of one that was killed. Sentences for whoever asked, where something is not as they may think.
 */
export function endStandIns(all: readonly StandIn[]): readonly string[] {
  return all.flatMap(endStandIn);
}

function endStandIn({ folder, name, files }: StandIn): readonly string[] {
  const notes: string[] = [];
  let held: number | undefined;
  try {
    held = openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const here = `/proc/self/fd/${held}`;
    const own = `${here}/${name}`;
    if (readlinkSync(here) !== folder || kindOf(own) !== 'folder') return [];
    openUp(own);
    for (const file of files) {
      const note = bringOut(own, here, file);
      if (note !== undefined) notes.push(`${join(folder, file.name)} ${note}`);
    }
    const left = readdirSync(own).filter((one) => !files.some((file) => file.name === one));
    if (left.length > 0) {
      const named = `${left.slice(0, MOST_NAMED).join(', ')}${left.length > MOST_NAMED ? ` and ${left.length - MOST_NAMED} more` : ''}`;
      notes.push(`Beside files of ${folder} that were opened, others were made and not kept: ${named}. Ask for the folder, or name them.`);
    }
    removeTree(here, name);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT')
      notes.push(`What was made beside the opened files of ${folder} could not be cleared away: ${String(thrown)}`);
  } finally {
    if (held !== undefined) closeSync(held);
  }
  return notes;
}

/** What is to be said of it, if anything. */
function bringOut(own: string, here: string, { name, ino }: StandIn['files'][number]): string | undefined {
  const now = lstatSync(`${own}/${name}`, { bigint: true, throwIfNoEntry: false });
  if (now === undefined) return 'was removed or moved away inside, and is still there: removing it was not asked for.';
  if (String(now.ino) === ino) return undefined;
  if (!now.isFile()) return 'was replaced inside by what is no plain file, and is as it was.';
  try {
    renameSync(`${own}/${name}`, `${here}/${name}`);
    return undefined;
  } catch (thrown) {
    return `could not be replaced (${errnoOf(thrown) ?? String(thrown)}), and is as it was.`;
  }
}
