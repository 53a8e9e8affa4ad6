import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** How far nested repositories are looked for. Beyond it a note says so. */
const MAX_DEPTH = 4;
const MAX_FOLDERS = 600;
/** Holds other people's packages and build results; a repository in there isn't one that a person commits from. */
const NOT_ENTERED = new Set([
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

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Not ours to read: the run can't plant anything there either, as it has the same rights.
    return [];
  }
}

export interface Repositories {
  /** Folders with a `.git` in them, the Workspace itself included. */
  readonly work_trees: readonly string[];
  readonly complete: boolean;
}

/** Breadth first, so that the budget goes to what is near the top. */
export function findRepositories(workspace: string): Repositories {
  const workTrees: string[] = [];
  let level = [workspace];
  let seen = 0;
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (++seen > MAX_FOLDERS) return { work_trees: workTrees, complete: false };
      for (const entry of entries(folder)) {
        if (entry.name === '.git') workTrees.push(folder);
        else if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) next.push(join(folder, entry.name));
      }
    }
    level = next;
  }
  return { work_trees: workTrees, complete: level.length === 0 };
}

/** Git folders of submodules below a git folder: `modules/<name>`, where a name may have slashes. */
export function moduleFolders(commonDir: string): readonly string[] {
  const found: string[] = [];
  let level = [join(commonDir, 'modules')];
  let seen = 0;
  for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (++seen > MAX_FOLDERS) return found;
      const inside = entries(folder);
      if (inside.some((entry) => entry.name === 'HEAD')) {
        found.push(folder);
        next.push(join(folder, 'modules'));
      } else next.push(...inside.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name)));
    }
    level = next;
  }
  return found;
}
