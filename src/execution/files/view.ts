import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { readAccounts, userName } from '../containment/accounts.ts';
import { createEtcSnapshot } from '../containment/etc-snapshot.ts';
import { homeInside } from '../containment/forbidden.ts';
import { GENERATED_AT, generatedFiles } from '../containment/generated-files.ts';
import { gatherGuards } from '../containment/guards.ts';
import { within } from '../containment/mount.ts';
import { readPerson } from '../containment/person.ts';
import { whoRuns } from '../containment/planner.ts';
import { ensurePrivateFolders, privateFolders, writeGenerated } from '../containment/private-folders.ts';
import { PROTECTED_IN_GIT, PROTECTED_IN_WORKSPACE, SETTINGS_NAMES } from '../containment/protected-table.ts';
import { reaches } from '../containment/reach.ts';
import { createRepositoryFinder, NOT_ENTERED } from '../containment/repositories.ts';
import { systemMounts } from '../containment/system-mounts.ts';
import { gatherToolchains } from '../containment/toolchains.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { Execution, WorkspaceBind } from '../types.ts';
import { createSearcher } from './search.ts';
import type { FileOpening, FilePlace, FilesScene, FilesView } from './types.ts';

/** The places that don't move are looked up once in so long. */
const PLACES_FRESH_MS = 10_000;
const MAX_KNOWN = 64;

type Config = Pick<ExecutionConfig, 'home' | 'host_env' | 'user_home' | 'shared_root' | 'bwrap_candidates' | 'backend' | 'container'>;

interface Fixed {
  readonly as: FilesScene['as'];
  readonly home: string;
  readonly places: readonly FilePlace[];
}

/** The planner's facts (containment/planner.ts) for tools that open files in this process. */
export function createFilesView(config: Config, execution: Pick<Execution, 'probe'>): FilesView {
  const find = createRepositoryFinder();
  const etc = createEtcSnapshot();
  const known = new Map<string, { readonly fixed: Fixed; readonly at: number }>();

  const fixedOf = (workspaces: readonly WorkspaceBind[]): Fixed => {
    const key = JSON.stringify(workspaces);
    const before = known.get(key);
    if (before && performance.now() - before.at < PLACES_FRESH_MS) return before.fixed;
    if (known.size >= MAX_KNOWN) known.clear();
    const fixed = lookUp(config, workspaces, etc);
    known.set(key, { fixed, at: performance.now() });
    return fixed;
  };

  return {
    scene: (workspaces, openings) => {
      const { as, home, places } = fixedOf(workspaces);
      // Only for what writes: it looks through the whole Workspace.
      const guardedPaths = (): readonly string[] => {
        const guards = gatherGuards(workspaces, { git_config_write: false, home: config.user_home, find });
        return [
          ...guards.mounts.flatMap((mount) => (mount.kind === 'bind' && mount.access === 'read' ? [mount.dest] : [])),
          ...guards.watch,
          ...guards.links.map(({ path }) => path),
        ];
      };
      const roots = workspaces.map(({ path }) => path);
      return {
        as,
        home,
        places: [...places, ...openings.map(opened)],
        protectedBecause: (path) => {
          const root = roots.find((one) => within(path, one));
          const guard = guardedPaths().find((one) => within(path, one));
          if (guard !== undefined) return because(guard);
          return root === undefined ? undefined : (inSettings(path, root) ?? inGit(path, root));
        },
      };
    },
    search: createSearcher(config, execution),
  };
}

const opened = ({ path, access }: FileOpening): FilePlace => ({ kind: 'bind', inside: path, host: path, access, opened: true });

function lookUp(config: Config, workspaces: readonly WorkspaceBind[], etc: (parent: string) => string): Fixed {
  const primary = workspaces[0]?.path ?? '/';
  const accounts = readAccounts();
  const as = whoRuns(primary, accounts);
  const user_name = as.inside.uid === as.uid ? userName(as.uid, accounts, config.host_env['USER']) : 'user';
  const home = homeInside(config.user_home, user_name);
  const folders = privateFolders(config, primary, as);
  ensurePrivateFolders(folders, as);
  const paths = workspaces.map(({ path }) => path);
  const bind = (inside: string, host: string, access: 'read' | 'write'): FilePlace => ({
    kind: 'bind',
    inside,
    host,
    access,
    opened: false,
  });
  // Few calls look into /etc, and making what a run finds there takes a while.
  const later = (inside: string, make: () => string): FilePlace => {
    let made: string | undefined;
    return {
      ...bind(inside, '', 'read'),
      get host() {
        made ??= make();
        return made;
      },
    };
  };
  const generated = (name: string): string => {
    const person = readPerson(config.user_home, primary);
    return join(writeGenerated(folders, generatedFiles({ as, user_name, home, workspaces: paths, person })), name);
  };
  const toolchains = gatherToolchains({
    config,
    persons: { writ_home: config.home, user_home: config.user_home },
    workspaces,
    reaches: (path) => reaches(path, as),
    trusted_uids: [0, as.uid, process.getuid?.() ?? as.uid],
  });
  const contained = config.backend === 'container';
  // What an image has can't be seen from outside of it.
  const own = !contained || config.container?.image === undefined;
  const system = [
    ...[...systemMounts(), ...toolchains.mounts].flatMap((mount): readonly FilePlace[] => {
      if (mount.kind === 'symlink') return [{ kind: 'link', inside: mount.dest, target: mount.target }];
      return mount.kind === 'bind' ? [bind(mount.dest, mount.source, 'read')] : [];
    }),
    later('/etc', () => etc(folders.shared)),
    ...Object.entries(GENERATED_AT).map(([name, inside]) => later(inside, () => generated(name))),
  ];
  // That of a container is memory of its own and ends with the run.
  const tmp = [bind('/tmp', folders.tmp, 'write'), { kind: 'link', inside: '/var/tmp', target: '/tmp' } as const];
  const places = [
    ...(own ? system : []),
    ...(contained ? [] : tmp),
    bind(home, folders.home, 'write'),
    ...workspaces.map(({ path, access }) => bind(path, path, access)),
  ];
  return { as, home, places };
}

function because(guard: string): string {
  const row = PROTECTED_IN_WORKSPACE.find(({ path }) => path === basename(guard));
  return row?.because ?? 'git starts programs that are named there';
}

/** Of a folder below that has none yet. */
function inSettings(path: string, root: string): string | undefined {
  const parts = relative(root, path).split('/');
  const at = parts.findIndex((part) => SETTINGS_NAMES.has(part));
  const name = parts[at];
  return name === undefined || parts.slice(0, at).some((part) => NOT_ENTERED.has(part)) ? undefined : because(name);
}

const GIT_NAMES: ReadonlySet<string> = new Set(PROTECTED_IN_GIT.map(({ path }) => path));

/** What the guards can't know yet: a repository that is only about to be there. */
function inGit(path: string, root: string): string | undefined {
  const parts = relative(root, path).split('/');
  const git = parts.indexOf('.git');
  if (git >= 0) {
    const inside = parts.slice(git + 1);
    if (inside.length === 0) return 'it says where git finds its hooks and settings';
    return inside.some((part) => GIT_NAMES.has(part)) ? 'git starts programs that are named there' : undefined;
  }
  return completesRepository(path, root) ? 'it would turn its folder into a git repository, whose settings git obeys' : undefined;
}

const MARKS = ['HEAD', 'objects', 'refs', 'commondir'] as const;

/** git takes a folder with HEAD, objects and refs (or a commondir) for a repository, whatever its name is. */
function completesRepository(path: string, root: string): boolean {
  for (let folder = dirname(path), below = path; ; below = folder, folder = dirname(folder)) {
    const name = relative(folder, below);
    if (MARKS.some((mark) => mark === name) && !existsSync(join(folder, name))) {
      const has = (mark: (typeof MARKS)[number]): boolean => mark === name || existsSync(join(folder, mark));
      if (has('HEAD') && (has('commondir') || (has('objects') && has('refs')))) return true;
    }
    if (folder === root || !within(folder, root)) return false;
  }
}
