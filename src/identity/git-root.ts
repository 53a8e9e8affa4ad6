import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The nearest folder at or above `from` that is a git working tree, without running git. A `.git` that somebody else put there is
 * passed over, as git itself would refuse it (`uid`: whose it must be, or root's; root takes anybody's).
 */
export function findGitRoot(from: string, uid = 0): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (isWorkingTree(join(folder, '.git'), uid)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isWorkingTree(dotGit: string, uid: number): boolean {
  try {
    const stat = lstatSync(dotGit);
    if (uid > 0 && stat.uid !== uid && stat.uid !== 0) return false;
    // A linked worktree or submodule has a small file that points to its repository.
    if (stat.isFile()) return stat.size < 8192 && readFileSync(dotGit, 'utf8').startsWith('gitdir:');
    return statSync(join(dotGit, 'HEAD')).isFile();
  } catch {
    return false;
  }
}
