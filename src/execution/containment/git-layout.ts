import { dirname, join, resolve } from 'node:path';
import { lastValue, readGitConfig } from './git-config-file.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { within } from './mount.ts';

/** Where a repository's parts lie, as far as they can be believed. */
export interface GitFolder {
  /** The folder with HEAD and index. */
  readonly git_dir: string;
  /** The folder with hooks, config, objects and refs; the same except in linked worktrees. */
  readonly common_dir: string;
  /** Outside of the Workspace, and has to be bound for git to work. */
  readonly outside: boolean;
}

const looksLikeGit = (folder: string, { kindOf }: Looks): boolean =>
  kindOf(join(folder, 'HEAD')) === 'file' && kindOf(join(folder, 'objects')) === 'folder' && kindOf(join(folder, 'refs')) === 'folder';

/**
 * A `.git` file names a folder elsewhere, and a run may have written that file: `gitdir: /home/me/.ssh` must not open anything.
 * So a folder outside counts only when it points back at this very Workspace, by means that lie outside too: a linked worktree's
 * `gitdir` file (gitrepository-layout), a submodule's `core.worktree`.
 */
function outsideFolder(gitDir: string, workTree: string, looks: Looks): GitFolder | undefined {
  const { readSmall, realPath } = looks;
  const back = readSmall(join(gitDir, 'gitdir'))?.trim();
  const common = readSmall(join(gitDir, 'commondir'))?.trim();
  if (back !== undefined && common !== undefined) {
    const commonDir = realPath(resolve(gitDir, common));
    const named = resolve(gitDir, back);
    const pointsHere = named === join(workTree, '.git') || realPath(named) === join(workTree, '.git');
    // A repository that holds its own work trees would show all of them.
    const holdsUs = commonDir !== undefined && within(workTree, commonDir);
    if (!commonDir || holdsUs || !pointsHere || dirname(dirname(gitDir)) !== commonDir || !looksLikeGit(commonDir, looks)) return undefined;
    return { git_dir: gitDir, common_dir: commonDir, outside: true };
  }
  const workTreeSetting = lastValue(readGitConfig(readSmall(join(gitDir, 'config')) ?? '').settings, 'core', 'worktree');
  if (workTreeSetting === undefined || !looksLikeGit(gitDir, looks)) return undefined;
  return realPath(resolve(gitDir, workTreeSetting)) === workTree ? { git_dir: gitDir, common_dir: gitDir, outside: true } : undefined;
}

/** What `<workTree>/.git` is: a folder, a pointer we may follow, or a pointer we don't believe. */
export function gitFolder(workTree: string, workspace: string, looks: Looks = PLAIN_LOOKS): GitFolder | 'not believed' | undefined {
  const { kindOf, readSmall, realPath } = looks;
  const dotGit = join(workTree, '.git');
  const kind = kindOf(dotGit);
  if (kind === 'folder') return { git_dir: dotGit, common_dir: dotGit, outside: false };
  if (kind !== 'file') return undefined;
  const named = /^gitdir: (.+?)\r?\n*$/.exec(readSmall(dotGit) ?? '')?.[1];
  const gitDir = named === undefined ? undefined : realPath(resolve(workTree, named));
  if (gitDir === undefined) return 'not believed';
  if (within(gitDir, workspace)) {
    const common = readSmall(join(gitDir, 'commondir'))?.trim();
    const commonDir = common === undefined ? gitDir : realPath(resolve(gitDir, common));
    return commonDir !== undefined && within(commonDir, workspace)
      ? { git_dir: gitDir, common_dir: commonDir, outside: false }
      : 'not believed';
  }
  // Only the Workspace's own pointer may lead outside; nested ones are content.
  return (workTree === workspace ? outsideFolder(gitDir, workTree, looks) : undefined) ?? 'not believed';
}

/** Files and folders that a repository's configuration names and git obeys: `core.hooksPath`, `include.path`. */
export function namedByConfig(folder: GitFolder, workTree: string, home: string, { readSmall }: Looks = PLAIN_LOOKS): readonly string[] {
  const settings = ['config', 'config.worktree'].flatMap((name) => readGitConfig(readSmall(join(folder.common_dir, name)) ?? '').settings);
  return settings.flatMap(({ section, key, value }) => {
    const path = value.startsWith('~/') ? join(home, value.slice(2)) : value;
    if (section === 'core' && key === 'hookspath') {
      const hooks = resolve(workTree, path);
      // Husky's `.husky/_/pre-commit` starts `.husky/pre-commit`: both are hooks.
      return hooks === join(workTree, '.husky/_') ? [join(workTree, '.husky')] : [hooks];
    }
    return (section === 'include' || section === 'includeif') && key === 'path' ? [resolve(folder.common_dir, path)] : [];
  });
}
