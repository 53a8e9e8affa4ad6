import { AppError } from '../../kernel/errors.ts';
import type { ChannelProfile, ExecutionConfig, SandboxPlan } from '../core-types.ts';
import { type OwnRegistries, ownRegistries } from '../network/plan.ts';
import type { RunSpec, WorkspaceBind } from '../types.ts';
import { type Account, readAccounts, userName } from './accounts.ts';
import { procCovers } from './base-mounts.ts';
import { findBwrap } from './bwrap.ts';
import { channelCwd, checkPrograms, socketMounts } from './channel-checks.ts';
import { createEtcSnapshot } from './etc-snapshot.ts';
import { homeInside, openingRefusal, type Persons, workspaceRefusal } from './forbidden.ts';
import { generatedFiles } from './generated-files.ts';
import { type Guards, gatherGuards } from './guards.ts';
import { kindOf, realPath } from './look.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { type Mount, within } from './mount.ts';
import { prepareMountPoints } from './mount-points.ts';
import { readPerson } from './person.ts';
import { buildPlan, openingMounts, type PlanFacts, startingAt } from './plan.ts';
import { ensurePrivateFolders, type PrivateFolders, privateFolders, writeGenerated } from './private-folders.ts';
import { reaches } from './reach.ts';
import { createRemembered } from './remembered.ts';
import { createRepositoryFinder, type FindRepositories } from './repositories.ts';
import { type RunAs, runAs } from './run-as.ts';
import { systemMounts } from './system-mounts.ts';
import { gatherToolchains, type Toolchains } from './toolchains.ts';

function checkWorkspaces(spec: RunSpec, persons: Persons, of: { own: boolean; none: boolean }, { realPath, kindOf }: Looks): void {
  if (spec.workspaces.length === 0 && !of.none) throw new AppError('invalid_arguments', 'A run needs at least one workspace.');
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
    const why = of.own ? undefined : workspaceRefusal(path, persons);
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
function checkOpenings(spec: RunSpec, persons: Persons, as: RunAs, looks: Looks): RunSpec['openings'] {
  const { realPath, kindOf } = looks;
  return spec.openings.map((opening) => {
    const { path, target = path } = opening;
    const refuse = (why: string): never => {
      throw new AppError('invalid_arguments', `${path} can't be opened for this run: ${why}.`, {
        fix: 'Ask for a path that exists, by its real name.',
      });
    };
    const found = realPath(path);
    if (found === undefined) return refuse('it does not exist');
    if (found !== target) return refuse(`it is a link to ${found}`);
    const kind = kindOf(found);
    if (kind !== 'file' && kind !== 'folder') return refuse('it is neither a file nor a folder');
    const why = openingRefusal(path, persons);
    if (why !== undefined) return refuse(why);
    return reaches(path, as, looks) ? opening : refuse(`uid ${as.uid}, which the run has, can't reach it`);
  });
}

type Bind = Extract<Mount, { kind: 'bind' }>;

function installed(asked: WorkspaceBind | undefined, as: RunAs, looks: Looks): { readonly installation?: Bind } {
  if (asked === undefined) return {};
  const { path, access } = asked;
  if (!reaches(path, as, looks)) {
    throw new AppError('not_found', `uid ${as.uid}, which the program has, can't reach what is installed in ${path}.`, {
      fix: 'Install it again as the user who starts Writ.',
    });
  }
  return { installation: { kind: 'bind', source: path, dest: path, access } };
}

/** Everything about a run but its guards: who it is, where its folders are, what of the machine it sees. */
interface Ground {
  readonly as: RunAs;
  readonly openings: RunSpec['openings'];
  readonly user_name: string;
  readonly home: string;
  readonly folders: PrivateFolders;
  readonly generated: string;
  readonly toolchains: Toolchains;
  readonly registries: OwnRegistries;
  readonly sockets: readonly Bind[];
  readonly installation?: Bind;
}

/** Which program carries a plan out, and how what was gathered becomes a plan for it. */
export interface PlanMaker {
  /** Its path, or whatever else tells it from another; throws where there is none. */
  program(): string;
  make(spec: RunSpec, facts: PlanFacts, config: ExecutionConfig): SandboxPlan;
}

function bubblewrapMaker(config: ExecutionConfig): PlanMaker {
  return { program: () => findBwrap(config.bwrap_candidates), make: buildPlan };
}

/**
 * Gathers the facts of one run and hands them to the pure builder. Each of the three steps is remembered as long as all its looks would
 * find the same: what a run may have changed is looked at for each plan, and only thought through again when it has changed.
 * `own`: Writ's own scratch folder, for the probe. `channel`: the plan is for a long-lived program.
 */
export function createPlanner(
  config: ExecutionConfig,
  find: FindRepositories = createRepositoryFinder(),
  maker: PlanMaker = bubblewrapMaker(config),
): (spec: RunSpec, own?: boolean, channel?: ChannelProfile) => Promise<SandboxPlan> {
  const persons: Persons = { writ_home: config.home, user_home: config.user_home };
  const etc = createEtcSnapshot();
  const grounds = createRemembered<Ground>();
  const guarded = createRemembered<Guards>();
  const plans = createRemembered<SandboxPlan>();
  let system: readonly Mount[] | undefined;
  let covers: ReturnType<typeof procCovers> | undefined;
  let accounts: readonly Account[] | undefined;

  const gatherGround = (asked: RunSpec, own: boolean, channel: ChannelProfile | undefined, looks: Looks): Ground => {
    checkWorkspaces(asked, persons, { own, none: channel !== undefined }, looks);
    // Without a folder of its own a program that stays is the person's.
    const primary = asked.workspaces[0]?.path ?? config.user_home;
    accounts ??= readAccounts();
    const as = whoRuns(primary, accounts, looks);
    for (const { path } of asked.workspaces) {
      if (!reaches(path, as, looks)) {
        throw new AppError('workspace_unavailable', `uid ${as.uid}, which runs in ${primary} have, can't reach ${path}.`, {
          fix: `Let that user pass every folder above it, or give ${primary} to the user who should run its commands.`,
        });
      }
    }
    const openings = checkOpenings(asked, persons, as, looks);
    const user_name = as.inside.uid === as.uid ? userName(as.uid, accounts, config.host_env['USER']) : 'user';
    const home = homeInside(config.user_home, user_name);
    const folders = privateFolders(config, channel ? `channel:${channel.name}` : primary, as);
    ensurePrivateFolders(folders, as, looks);
    const workspaces = asked.workspaces.map(({ path }) => path);
    const person = readPerson(config.user_home, primary, looks);
    const generated = writeGenerated(folders, generatedFiles({ as, user_name, home, workspaces, person }), looks);
    const input = {
      config: channel ? { host_env: channel.env } : config,
      persons,
      workspaces: asked.workspaces,
      reaches: (path: string) => reaches(path, as, looks),
      trusted_uids: [0, as.uid, process.getuid?.() ?? as.uid],
      programs: channel?.programs ?? [],
    };
    const toolchains = gatherToolchains(input, looks);
    checkPrograms(toolchains);
    return {
      as,
      openings,
      user_name,
      home,
      folders,
      generated,
      registries: { ...ownRegistries(person), ...(channel?.own_hosts === undefined ? {} : { chosen: channel.own_hosts }) },
      toolchains,
      sockets: socketMounts(channel?.unix_sockets ?? [], persons, as, looks),
      ...installed(channel?.installation, as, looks),
    };
  };

  return async (asked, own = false, channel = undefined) => {
    const { workspaces, git_config_write } = asked;
    const bwrap = maker.program();
    const key = keyOf(asked, own, channel);
    const ground = grounds(key, [], (looks) => gatherGround(asked, own, channel, looks));
    const spec: RunSpec = { ...asked, cwd: channel ? channelCwd(asked, ground) : checkCwd(asked), openings: ground.openings };
    const { as, home, folders, toolchains } = ground;
    const guards = guarded(JSON.stringify([workspaces, git_config_write]), [], (looks) =>
      gatherGuards(workspaces, { git_config_write, home: config.user_home, find }, looks),
    );
    const snapshot = etc(folders.shared, spec.openings);
    system ??= systemMounts();
    covers ??= procCovers();
    const proc_covers = as.uid === 0 ? [...covers.everybody, ...covers.root] : covers.everybody;
    const machine = { bwrap, etc: snapshot, system, proc_covers, arch: process.arch };

    const plan = plans(key, [ground, guards, bwrap, snapshot], (looks) => {
      const given = [
        ...spec.workspaces.map(({ path, access }): Mount => ({ kind: 'bind', source: path, dest: path, access })),
        ...spec.openings.flatMap(openingMounts),
        ...ground.sockets,
        ...(ground.installation === undefined ? [] : [ground.installation]),
      ];
      const ownHome: Mount = { kind: 'bind', source: folders.home, dest: home, access: 'write' };
      const pins = prepareMountPoints([ownHome, ...toolchains.mounts, ...given, ...guards.mounts], { home, folders }, as, looks);
      // What a run could have swapped before it is mounted; tool chains and system folders it never could, but packages that lie in a Workspace.
      const swappable = [
        ...pins.map(({ source, dest }) => ({ source, dest })),
        ...spec.openings.map(({ path, target = path }) => ({ source: target, dest: path })),
        ...ground.sockets,
        ...(ground.installation === undefined ? [] : [ground.installation]),
        ...(channel ? toolchains.mounts.filter((mount) => mount.kind === 'bind') : []),
      ];
      const expected = swappable.flatMap(({ source, dest }) => {
        const stat = looks.look(source);
        return stat ? [{ path: dest, dev: stat.dev, ino: stat.ino }] : [];
      });
      return maker.make(
        spec,
        { ...ground, ...machine, channel, guards: { ...guards, expect: [...expected, ...guards.expect] }, pins },
        config,
      );
    });
    return startingAt(plan, spec.cwd);
  };
}

/** Of what is asked, the parts that the same sandbox can do one way or another. Whatever else there is makes another plan. */
const NOT_PLANNED: ReadonlySet<string> = new Set(['command', 'cwd', 'stdin', 'timeout_ms', 'owner', 'description', 'action']);

function keyOf(asked: RunSpec, own: boolean, channel: ChannelProfile | undefined): string {
  return JSON.stringify([Object.entries(asked).filter(([name]) => !NOT_PLANNED.has(name)), own, channel]);
}

export function whoRuns(workspace: string, accounts: readonly Account[], { look }: Looks = PLAIN_LOOKS): RunAs {
  const folder = look(workspace);
  const owner = { uid: folder?.uid ?? 0, gid: folder?.gid ?? 0 };
  const gid = accounts.find((account) => account.uid === owner.uid)?.gid;
  return runAs({
    self: { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
    workspace: owner,
    ...(gid === undefined ? {} : { passwd_gid: gid }),
  });
}
