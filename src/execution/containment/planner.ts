import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { type Account, readAccounts, userName } from './accounts.ts';
import { procCovers } from './base-mounts.ts';
import { findBwrap } from './bwrap.ts';
import { createEtcSnapshot } from './etc-snapshot.ts';
import { homeInside, openingRefusal, type Persons, workspaceRefusal } from './forbidden.ts';
import { generatedFiles, type Person } from './generated-files.ts';
import { gatherGuards } from './guards.ts';
import { kindOf, look, realPath } from './look.ts';
import { type Mount, within } from './mount.ts';
import { prepareMountPoints } from './mount-points.ts';
import { readPerson } from './person.ts';
import { buildPlan } from './plan.ts';
import { ensurePrivateFolders, privateFolders, writeGenerated } from './private-folders.ts';
import { reaches } from './reach.ts';
import { createRepositoryFinder } from './repositories.ts';
import { type RunAs, runAs } from './run-as.ts';
import { systemMounts } from './system-mounts.ts';
import { gatherToolchains } from './toolchains.ts';

/** How long a look at the person's own configuration is good for. */
const PERSON_FRESH_MS = 10_000;
const MAX_PERSONS = 64;

function checkWorkspaces(spec: RunSpec, persons: Persons, own: boolean): void {
  if (spec.workspaces.length === 0) throw new AppError('invalid_arguments', 'A run needs at least one workspace.');
  for (const { path } of spec.workspaces) {
    const found = realPath(path);
    if (found === undefined || kindOf(found) !== 'folder') {
      throw new AppError('workspace_unavailable', `The workspace ${path} is not a folder.`, {
        fix: 'Make it, or choose another with --root.',
      });
    }
    if (found !== path) {
      throw new AppError('workspace_unavailable', `The workspace ${path} is a link to ${found}, and a run is given real paths only.`, {
        fix: `Use --root ${found}`,
      });
    }
    const why = own ? undefined : workspaceRefusal(path, persons);
    if (why !== undefined) {
      throw new AppError('workspace_unavailable', `${path} can't be a workspace: ${why}.`, { fix: 'Choose another folder with --root.' });
    }
  }
}

function checkCwd(spec: RunSpec): string {
  const cwd = realPath(spec.cwd);
  if (cwd !== undefined && kindOf(cwd) === 'folder' && spec.workspaces.some(({ path }) => within(cwd, path))) return cwd;
  throw new AppError(
    'invalid_arguments',
    `The folder ${spec.cwd} ${cwd === undefined ? 'does not exist' : 'is not inside a workspace of this run'}.`,
    {
      fix: `Use a folder below ${spec.workspaces.map(({ path }) => path).join(' or ')}.`,
    },
  );
}

/** An approval opens exactly what it showed or the run doesn't start: less than promised would be silent, more a lie. */
function checkOpenings(spec: RunSpec, persons: Persons, as: RunAs): RunSpec['openings'] {
  return spec.openings.map(({ path, access }) => {
    const refuse = (why: string): never => {
      throw new AppError('invalid_arguments', `${path} can't be opened for this run: ${why}.`, {
        fix: 'Ask for a path that exists, by its real name.',
      });
    };
    const found = realPath(path);
    if (found === undefined) return refuse('it does not exist');
    if (found !== path) return refuse(`it is a link to ${found}`);
    const kind = kindOf(path);
    if (kind !== 'file' && kind !== 'folder') return refuse('it is neither a file nor a folder');
    const why = openingRefusal(path, persons);
    if (why !== undefined) return refuse(why);
    return reaches(path, as) ? { path, access } : refuse(`uid ${as.uid}, which the run has, can't reach it`);
  });
}

/** Gathers the facts of one run and hands them to the pure builder. `own`: Writ's own scratch folder, for the probe. */
export function createPlanner(config: ExecutionConfig): (spec: RunSpec, own?: boolean) => Promise<SandboxPlan> {
  const persons: Persons = { writ_home: config.home, user_home: config.user_home };
  const find = createRepositoryFinder();
  const known = new Map<string, { readonly person: Person; readonly at: number }>();
  const etc = createEtcSnapshot();
  let system: readonly Mount[] | undefined;
  let covers: ReturnType<typeof procCovers> | undefined;
  let accounts: readonly Account[] | undefined;

  const personFor = (workspace: string): Person => {
    const before = known.get(workspace);
    if (before && performance.now() - before.at < PERSON_FRESH_MS) return before.person;
    if (known.size >= MAX_PERSONS) known.clear();
    const person = readPerson(config.user_home, workspace);
    known.set(workspace, { person, at: performance.now() });
    return person;
  };

  return async (asked, own = false) => {
    checkWorkspaces(asked, persons, own);
    const primary = asked.workspaces[0]?.path ?? '/';
    const bwrap = findBwrap(config.bwrap_candidates);
    accounts ??= readAccounts();
    const as = whoRuns(primary, accounts);
    for (const { path } of asked.workspaces) {
      if (!reaches(path, as)) {
        throw new AppError('workspace_unavailable', `uid ${as.uid}, which runs in ${primary} have, can't reach ${path}.`, {
          fix: `Let that user pass every folder above it, or give ${primary} to the user who should run its commands.`,
        });
      }
    }
    const spec: RunSpec = { ...asked, cwd: checkCwd(asked), openings: checkOpenings(asked, persons, as) };
    system ??= systemMounts();
    covers ??= procCovers();
    const user_name = as.inside.uid === as.uid ? userName(as.uid, accounts, config.host_env['USER']) : 'user';
    const home = homeInside(config.user_home, user_name);
    const folders = privateFolders(config, primary, as);
    ensurePrivateFolders(folders, as);
    const workspaces = spec.workspaces.map(({ path }) => path);
    const generated = writeGenerated(folders, generatedFiles({ as, user_name, home, workspaces, person: personFor(primary) }));
    const toolchains = gatherToolchains({
      config,
      persons,
      workspaces: spec.workspaces,
      reaches: (path) => reaches(path, as),
      trusted_uids: [0, as.uid, process.getuid?.() ?? as.uid],
    });
    const guards = gatherGuards(spec.workspaces, { git_config_write: spec.git_config_write, home: config.user_home, find });
    const given = [...spec.workspaces, ...spec.openings].map(
      ({ path, access }): Mount => ({ kind: 'bind', source: path, dest: path, access }),
    );
    const ownHome: Mount = { kind: 'bind', source: folders.home, dest: home, access: 'write' };
    const pins = prepareMountPoints([ownHome, ...toolchains.mounts, ...given, ...guards.mounts], { home, folders }, as);
    // What a run could have swapped before it is mounted; tool chains and system folders it never could.
    const swappable = [
      ...pins.map(({ source, dest }) => ({ source, dest })),
      ...spec.openings.map(({ path }) => ({ source: path, dest: path })),
    ];
    const expected = swappable.flatMap(({ source, dest }) => {
      const stat = look(source);
      return stat ? [{ path: dest, dev: stat.dev, ino: stat.ino }] : [];
    });
    return buildPlan(
      spec,
      {
        bwrap,
        as,
        user_name,
        home,
        folders,
        generated,
        etc: etc(folders.shared),
        system,
        proc_covers: as.uid === 0 ? [...covers.everybody, ...covers.root] : covers.everybody,
        toolchains,
        guards: { ...guards, expect: [...expected, ...guards.expect] },
        pins,
        arch: process.arch,
      },
      config,
    );
  };
}

function whoRuns(workspace: string, accounts: readonly Account[]): RunAs {
  const folder = look(workspace);
  const owner = { uid: folder?.uid ?? 0, gid: folder?.gid ?? 0 };
  const gid = accounts.find((account) => account.uid === owner.uid)?.gid;
  return runAs({
    self: { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
    workspace: owner,
    ...(gid === undefined ? {} : { passwd_gid: gid }),
  });
}
