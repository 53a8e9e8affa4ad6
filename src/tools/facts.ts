import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Facts } from '../policy/types.ts';

/** The machine's answers for policy, each at the time of asking. One object per assessment: answers are remembered, so a path is looked at once. */
export function createFacts(searchPath: string): Facts {
  const paths = new Map<string, string | undefined>();
  const programs = new Map<string, string | undefined>();
  return {
    realpath: (path) => remember(paths, path, () => realpathAsFarAsItExists(path)),
    which: (name) => remember(programs, name, () => which(name, searchPath)),
  };
}

function remember<V>(known: Map<string, V>, key: string, find: () => V): V {
  const hit = known.get(key);
  if (hit !== undefined || known.has(key)) return hit as V;
  const value = find();
  known.set(key, value);
  return value;
}

/** The real path of the deepest existing ancestor plus the rest: a file about to be made has a place too. A dangling link is followed to where it would write. */
export function realpathAsFarAsItExists(path: string, hops = 0): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    if (hops > 64) return undefined;
    const parent = dirname(path);
    if (parent === path) return path;
    const target = linkTarget(path);
    if (target !== undefined) return realpathAsFarAsItExists(target.startsWith('/') ? target : join(parent, target), hops + 1);
    const resolved = realpathAsFarAsItExists(parent, hops + 1);
    return resolved === undefined ? undefined : join(resolved, basename(path));
  }
}

export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function which(name: string, searchPath: string): string | undefined {
  if (name.startsWith('/')) return isProgram(name) ? realpathAsFarAsItExists(name) : undefined;
  if (name === '' || name.includes('/')) return undefined;
  for (const dir of searchPath.split(':')) {
    if (!dir.startsWith('/')) continue;
    const candidate = join(dir, name);
    if (isProgram(candidate)) return realpathAsFarAsItExists(candidate);
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch {
    // Absent, or in a folder this user may not enter (a PATH inherited from root): a shell, too, goes on to the next folder.
    return false;
  }
}
