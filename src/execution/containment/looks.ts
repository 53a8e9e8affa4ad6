import { readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Kind, kindOf, kindOfStat, look, readSmall, realPath } from './look.ts';
import { isSettled } from './settled.ts';

/**
 * How planning looks at the machine, so that what was found can be used again as long as every look would find the same
 * (remembered.ts). Each is what the function of that name in look.ts does.
 */
export interface Looks {
  look(path: string): Stats | undefined;
  kindOf(path: string): Kind;
  /** `look` by somebody who goes on to read the entries of the folder. */
  listed(path: string): Stats | undefined;
  /** Through links. */
  follow(path: string): Stats | undefined;
  realPath(path: string): string | undefined;
  readLink(path: string): string;
  readSmall(path: string, options?: { readonly max?: number; readonly follow?: boolean }): string | undefined;
  /** Answers a question that is asked again as it is, each time: for what no look at a path can tell. */
  ask(question: () => boolean): boolean;
}

/** Keeps nothing. */
export const PLAIN_LOOKS: Looks = {
  look,
  kindOf,
  listed: look,
  follow,
  realPath,
  readLink: (path) => readlinkSync(path),
  readSmall,
  ask: (question) => question(),
};

function follow(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // As in `look`: what can't be got to is not there.
    return undefined;
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    // Not ours to read, or no longer a link.
    return undefined;
  }
}

/** As in the kernel. */
const MAX_LINKS = 40;
/** A Workspace of more folders than this is looked through each time anyway. */
const MAX_LOOKS = 4_000;

interface Found {
  readonly stat: Stats | undefined;
  /** What is in it was read too: its change time counts, which nobody can set back. */
  readonly read: boolean;
  /** Of the looks, which one it was. */
  readonly turn: number;
}

/** Looks, and a note of each. */
export interface Recording extends Looks {
  /** True as long as every look would find the same; undefined when that can't be told. */
  end(): (() => boolean) | undefined;
}

export function recordLooks(): Recording {
  const found = new Map<string, Found>();
  const asked: { readonly question: () => boolean; readonly answer: boolean }[] = [];
  let sure = true;
  let turn = 0;

  const note = (path: string, stat: Stats | undefined, read: boolean): Stats | undefined => {
    const before = found.get(path);
    // Two looks that differ: something is being changed, perhaps by us.
    if (before !== undefined && !isSame(before.stat, stat, before.read && read)) sure = false;
    if (read && stat !== undefined && !isSettled(stat)) sure = false;
    if (before === undefined || (read && !before.read)) found.set(path, { stat, read, turn: ++turn });
    return stat;
  };
  const looked = (path: string): Stats | undefined => note(path, look(path), false);

  /** Step by step, so that each link and each folder on the way is noted. */
  const resolve = (path: string): string | undefined => {
    let done = '/';
    let links = 0;
    const left = path.split('/').reverse();
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        done = dirname(done);
        continue;
      }
      const next = done === '/' ? `/${name}` : `${done}/${name}`;
      const stat = looked(next);
      if (stat === undefined) return undefined;
      if (!stat.isSymbolicLink()) {
        done = next;
        continue;
      }
      if (++links > MAX_LINKS) return undefined;
      const target = targetOf(next);
      if (target === undefined) return undefined;
      if (target.startsWith('/')) done = '/';
      left.push(...target.split('/').reverse());
    }
    return done;
  };

  const recording: Looks = {
    look: looked,
    kindOf: (path) => kindOfStat(looked(path)),
    listed: (path) => note(path, look(path), true),
    follow(path) {
      if (looked(path)?.isSymbolicLink()) sure = false;
      return follow(path);
    },
    realPath(path) {
      const real = realPath(path);
      // The kernel's word counts; one that the steps don't lead to is used, and not again.
      if (resolve(path) !== real) sure = false;
      return real;
    },
    readLink(path) {
      looked(path);
      return readlinkSync(path);
    },
    readSmall(path, options) {
      const real = options?.follow === true ? recording.realPath(path) : path;
      if (real !== undefined) note(real, look(real), true);
      return readSmall(path, options);
    },
    ask(question) {
      const answer = question();
      asked.push({ question, answer });
      return answer;
    },
  };

  return {
    ...recording,
    end() {
      if (!sure) return undefined;
      const needed = [...found].filter(([path, one]) => !isImplied(path, one, found));
      if (needed.length > MAX_LOOKS) return undefined;
      return () =>
        needed.every(([path, { stat, read }]) => isSame(stat, look(path), read)) &&
        asked.every(({ question, answer }) => question() === answer);
    },
  };
}

/** Nothing can come to be in a folder that isn't there, or whose entries are the same as before it was looked for. */
function isImplied(path: string, { stat, turn }: Found, found: ReadonlyMap<string, Found>): boolean {
  const above = stat === undefined ? found.get(dirname(path)) : undefined;
  return above !== undefined && above.turn < turn && (above.stat === undefined || (above.read && above.stat.isDirectory()));
}

function isSame(a: Stats | undefined, b: Stats | undefined, read: boolean): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.ino !== b.ino || a.dev !== b.dev || a.mode !== b.mode || a.uid !== b.uid || a.gid !== b.gid) return false;
  // A link is what it says; the same number may have been given to another one.
  return !(read || a.isSymbolicLink()) || (a.ctimeMs === b.ctimeMs && a.size === b.size);
}
