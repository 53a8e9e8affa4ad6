import { constants, copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { SandboxPlan } from '../core-types.ts';
import type { Receipt } from '../types.ts';
import { withFolder } from './folder-handle.ts';
import { isHarmlessGitConfig } from './git-config-harmless.ts';
import { gitFolder } from './git-layout.ts';
import { between } from './guards.ts';
import { kindOf, look } from './look.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { within } from './mount.ts';
import { openUp } from './open-up.ts';
import { PROTECTED_IN_GIT } from './protected-table.ts';
import { createRepositoryFinder, FAR, type FindRepositories } from './repositories.ts';

type Quarantined = Receipt['quarantined'];

/**
 * After a run whose tree is dead: what appeared at a protected place is moved into `<folder>/quarantine`, a protected link that
 * was changed is put back. Across file systems a single file is copied; a folder is only renamed where it is, to a name
 * nothing obeys, since copying a run's folder would let it choose how much we copy.
 */
export function quarantineAppeared(
  plan: SandboxPlan,
  folder: string,
  find: FindRepositories = createRepositoryFinder(),
  looks: Looks = PLAIN_LOOKS,
): Quarantined {
  const moved: { path: string; moved_to: string }[] = [];
  const take = (path: string): void => {
    try {
      const to = moveAway(path, join(folder, 'quarantine'), rootOf(path, plan));
      if (to !== undefined) moved.push({ path, moved_to: to });
    } catch (error) {
      // The others still have to go; this one is said to be where it is.
      moved.push({ path, moved_to: `not moved: ${error instanceof Error ? error.message : String(error)}` });
    }
  };
  openParents(plan, looks);
  const { work_trees, bare, settings, unseen } = newBelow(plan, find, looks);
  for (const root of unseen) moved.push({ path: root, moved_to: 'not looked through: the run made more folders than can be looked at' });
  for (const path of new Set([...plan.watch, ...work_trees, ...bare, ...settings])) {
    if (looks.kindOf(path) === 'absent') continue;
    for (const one of whatIsWrong(path, bare.has(path) || path.includes('/.git/'), looks)) take(one);
  }
  for (const { path, target } of plan.links ?? []) {
    const kind = looks.kindOf(path);
    if (kind === 'link' && looks.readLink(path) === target) continue;
    if (kind !== 'absent') take(path);
    withParent(path, rootOf(path, plan), (name) => {
      if (kindOf(name) === 'absent') symlinkSync(target, name);
    });
  }
  return moved;
}

/** What can't be looked into would count as absent. */
function openParents(plan: SandboxPlan, { look }: Looks): void {
  const folders = [...plan.watch, ...(plan.links ?? []).map(({ path }) => path)].flatMap((path) => {
    const root = rootOf(path, plan);
    return [root, ...between(path, root)];
  });
  for (const folder of new Set(folders)) if (look(folder) !== undefined) openUp(folder);
}

/** Protected places of repositories that a run made or cloned below its Workspaces, and settings that it put into folders there. */
function newBelow(
  plan: SandboxPlan,
  find: FindRepositories,
  looks: Looks,
): {
  readonly work_trees: readonly string[];
  readonly bare: ReadonlySet<string>;
  readonly settings: readonly string[];
  readonly unseen: readonly string[];
} {
  const places = (plan.repositories ?? []).map((before) => {
    const { root, work_trees } = before;
    const near = find(root, looks);
    // The run itself made it too large to be looked through: where does it not want us to look?
    const now = before.complete && !near.complete ? createRepositoryFinder(FAR)(root, looks) : near;
    const fresh = now.work_trees.filter((workTree) => !work_trees.includes(workTree));
    const bare = now.bare
      .filter((folder) => !before.bare.includes(folder))
      .flatMap((folder) => PROTECTED_IN_GIT.map(({ path }) => join(folder, path)));
    const own: string[] = [];
    const nested = fresh.flatMap((workTree) => {
      const git = gitFolder(workTree, root, looks);
      // A pointer into a repository that was there (submodule, worktree) is what git makes; any other is a way around the guards.
      const ours =
        git !== undefined &&
        git !== 'not believed' &&
        (git.git_dir === join(workTree, '.git') || work_trees.some((old) => within(git.git_dir, join(old, '.git'))));
      if (!ours) return [join(workTree, '.git')];
      if (!before.folders.has(workTree) && looks.look(join(git.git_dir, 'HEAD')) !== undefined) own.push(workTree);
      const linked = git.git_dir !== git.common_dir;
      return PROTECTED_IN_GIT.filter(({ path }) => !(linked && path === 'commondir')).map(({ path }) => join(git.git_dir, path));
    });
    const settings = now.settings.filter((path) => {
      if (before.settings.includes(path)) return false;
      const folder = dirname(path);
      if (before.folders.has(folder)) return true;
      // A folder that this run made. A repository in a folder of its own (a clone) is another project and keeps what it brings; any other
      // folder is part of the project that people work in. What was never looked into may have been there all along.
      return before.complete && !own.some((workTree) => within(folder, workTree));
    });
    return { nested, bare, settings, unseen: before.complete && !now.complete ? [root] : [] };
  });
  return {
    work_trees: places.flatMap(({ nested }) => nested),
    bare: new Set(places.flatMap(({ bare }) => bare)),
    settings: places.flatMap(({ settings }) => settings),
    unseen: places.flatMap(({ unseen }) => unseen),
  };
}

/** A new repository brings a hooks folder of samples and a plain configuration; those stay. */
function whatIsWrong(path: string, inGit: boolean, { kindOf, listed, readSmall }: Looks): readonly string[] {
  const name = basename(path);
  // Watched where there was no repository: a folder is a new one, a file or link points past the guards.
  if (name === '.git' && kindOf(path) === 'folder') return [];
  if (inGit && name === 'hooks' && kindOf(path) === 'folder') {
    openUp(path);
    listed(path);
    return readdirSync(path)
      .filter((hook) => !hook.endsWith('.sample'))
      .map((hook) => join(path, hook));
  }
  if (inGit && (name === 'config' || name === 'config.worktree') && kindOf(path) === 'file') {
    const text = readSmall(path);
    return text !== undefined && isHarmlessGitConfig(text) ? [] : [path];
  }
  return [path];
}

/** The mounted folder of the plan that a path lies in: from there the way down is walked without following links. */
function rootOf(path: string, plan: SandboxPlan): string {
  const roots = (plan.expect ?? []).map((one) => one.path).filter((root) => path.startsWith(`${root}/`));
  return roots.toSorted((a, b) => a.length - b.length)[0] ?? join(path, '..');
}

/** Moving a folder takes the right to write in it and in the one above. */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const opened = [openUp(from), openUp(dirname(from), { follow: true })];
    if (!opened.includes(true)) throw error;
    renameSync(from, to);
  }
}

function withParent<T>(path: string, root: string, use: (name: string) => T): T | undefined {
  const parts = relative(root, path).split('/');
  return withFolder(root, parts.slice(0, -1), { make: false }, (parent) => use(`${parent}/${parts.at(-1)}`));
}

function moveAway(path: string, to: string, root: string): string | undefined {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const target = join(mkdtempSync(join(to, 'item-')), basename(path));
  return withParent(path, root, (name) => {
    try {
      rename(name, target);
      return target;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    }
    if (kindOf(name) === 'file' && (look(name)?.size ?? 0) <= 1024 * 1024) {
      copyFileSync(name, target, constants.COPYFILE_EXCL);
      rmSync(name);
      return target;
    }
    const suffix = `.quarantined-by-writ-${Date.now()}`;
    renameSync(name, `${name}${suffix}`);
    return `${path}${suffix}`;
  });
}
