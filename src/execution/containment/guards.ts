import { dirname, join } from 'node:path';
import type { SandboxPlan } from '../core-types.ts';
import type { WorkspaceBind } from '../types.ts';
import { type GitFolder, gitFolder, namedByConfig } from './git-layout.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { type Mount, within } from './mount.ts';
import { PROTECTED_IN_GIT, PROTECTED_IN_WORKSPACE } from './protected-table.ts';
import { type FindRepositories, moduleFolders } from './repositories.ts';

/** What keeps a run from planting code that others would start later. */
export interface Guards {
  readonly mounts: readonly Mount[];
  readonly watch: readonly string[];
  readonly links: NonNullable<SandboxPlan['links']>;
  readonly expect: NonNullable<SandboxPlan['expect']>;
  readonly repositories: NonNullable<SandboxPlan['repositories']>;
  readonly sockets: readonly string[];
  readonly notes: readonly string[];
}

/** Each is a mount or more in every sandbox. */
const MAX_NESTED_SETTINGS = 256;

/** A run can add to those of nested repositories (a clone brings its own), and mustn't crowd out the others with them. */
function ownFirst(settings: readonly string[], workTrees: readonly string[], root: string): readonly string[] {
  const nested = workTrees.filter((folder) => folder !== root);
  const isNested = (path: string): boolean => nested.some((folder) => within(path, folder));
  return [...settings.filter((path) => !isNested(path)), ...settings.filter(isNested)];
}

/** Folders strictly between a mounted one and a path below it, outermost first. */
export function between(path: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== root && within(folder, root); folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

/**
 * Guards of the Workspaces that may be written. A protected path that exists becomes a read-only mount, and every folder above
 * it (below the Workspace) a mount on itself: a mount point can't be renamed, so nobody moves `.git` aside and makes a new one.
 * A protected path that is absent is only watched, since mounting it would leave an empty folder in the person's Workspace.
 */
export function gatherGuards(
  workspaces: readonly WorkspaceBind[],
  options: { readonly git_config_write: boolean; readonly home: string; readonly find: FindRepositories },
  looks: Looks = PLAIN_LOOKS,
): Guards {
  const { look, kindOf, realPath } = looks;
  const pins = new Set<string>();
  const readOnly = new Set<string>();
  const watch = new Set<string>();
  const links = new Map<string, string>();
  const outside = new Set<string>();
  const notes: string[] = [];
  const repositories: Guards['repositories'][number][] = [];
  const sockets: string[] = [];
  const roots = workspaces.filter(({ access }) => access === 'write').map(({ path }) => path);

  /** True where the innermost Workspace is for reading: a guard there could only make it writable. */
  const readOnlyHere = (path: string): boolean => {
    const holders = workspaces.filter((workspace) => within(path, workspace.path));
    return holders.toSorted((a, b) => b.path.length - a.path.length)[0]?.access === 'read';
  };
  const guard = (path: string, root: string): void => {
    if (readOnlyHere(path)) return;
    const kind = kindOf(path);
    if (kind === 'absent') watch.add(path);
    else if (kind === 'link') {
      // A mount would land on the link's target and the link itself could still be replaced: guard both, each in its way.
      links.set(path, looks.readLink(path));
      const target = realPath(path);
      const home = target === undefined ? undefined : roots.find((one) => target !== one && within(target, one));
      if (target !== undefined && home !== undefined) guard(target, home);
    } else {
      readOnly.add(path);
      // A Workspace inside a Workspace is a mount already.
      for (const folder of between(path, root)) if (!workspaces.some((workspace) => workspace.path === folder)) pins.add(folder);
    }
  };
  const guardGit = (folder: string, root: string): void => {
    for (const { path, opens_for_config_write } of PROTECTED_IN_GIT) {
      if (!(opens_for_config_write && options.git_config_write)) guard(join(folder, path), root);
    }
  };
  const guardRepository = (git: GitFolder, workTree: string, root: string): void => {
    const gitRoot = git.outside ? git.common_dir : root;
    if (git.outside) outside.add(git.common_dir);
    const folders = new Set([git.common_dir, git.git_dir, ...moduleFolders(git.common_dir, looks)]);
    for (const folder of folders) guardGit(folder, gitRoot);
    for (const path of namedByConfig(git, workTree, options.home, looks)) {
      const holder = roots.find((one) => path !== one && within(path, one));
      if (holder !== undefined) guard(path, holder);
    }
  };

  for (const root of roots) {
    const found = options.find(root, looks);
    for (const { path } of PROTECTED_IN_WORKSPACE) guard(join(root, path), root);
    for (const path of ownFirst(found.settings, found.work_trees, root).slice(0, MAX_NESTED_SETTINGS)) guard(path, root);
    const { work_trees, bare, settings, folders, complete } = found;
    repositories.push({ root, work_trees, bare, settings, folders, complete });
    sockets.push(...found.sockets);
    if (!complete) {
      notes.push(
        `${root} is too large to look everywhere for nested repositories and settings; hooks and settings of agents and editors deep down may be writable`,
      );
    }
    if (settings.length > MAX_NESTED_SETTINGS) {
      notes.push(
        `${root} holds ${settings.length} settings of agents and editors in folders below; ${MAX_NESTED_SETTINGS} of them are read-only`,
      );
    }
    if (!found.work_trees.includes(root)) {
      watch.add(join(root, '.git'));
      look(join(root, '.git'));
      guardGit(join(root, '.git'), root);
    }
    for (const folder of found.bare) guardGit(folder, root);
    for (const workTree of found.work_trees) {
      const git = gitFolder(workTree, root, looks);
      if (git === 'not believed') notes.push(`${workTree}/.git points outside of the workspace and not back: git won't work there`);
      else if (git) guardRepository(git, workTree, root);
      if (kindOf(join(workTree, '.git')) !== 'folder') guard(join(workTree, '.git'), root);
    }
  }

  const bind = (path: string, access: 'read' | 'write'): Mount => ({ kind: 'bind', source: path, dest: path, access });
  const mounted = [...new Set([...workspaces.map(({ path }) => path), ...outside, ...pins, ...readOnly])];
  return {
    mounts: [
      ...[...outside, ...[...pins].filter((path) => !readOnly.has(path))].map((path) => bind(path, 'write')),
      ...[...readOnly].map((path) => bind(path, 'read')),
    ],
    watch: [...watch],
    links: [...links].map(([path, target]) => ({ path, target })),
    expect: mounted.flatMap((path) => {
      const stat = look(path);
      return stat ? [{ path, dev: stat.dev, ino: stat.ino }] : [];
    }),
    repositories,
    sockets,
    notes,
  };
}
