import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { ChannelProfile, ExecutionConfig, SandboxPlan } from '../core-types.ts';
import { networkNotes, networkPlan, type OwnRegistries } from '../network/plan.ts';
import type { Limits, RunSpec } from '../types.ts';
import { baseMounts, SEAL } from './base-mounts.ts';
import { bwrapOptions } from './bwrap-options.ts';
import { planDimensions } from './dimensions.ts';
import { channelBase, environment } from './environment.ts';
import type { Guards } from './guards.ts';
import { type Mount, parentsFirst } from './mount.ts';
import type { PrivateFolders } from './private-folders.ts';
import type { RunAs } from './run-as.ts';
import { seccompFilter } from './seccomp/filter.ts';
import type { Toolchains } from './toolchains.ts';

/** What was found out about the machine for one run; from here on nothing is looked up any more. */
export interface PlanFacts {
  readonly bwrap: string;
  readonly as: RunAs;
  readonly user_name: string;
  /** HOME inside. */
  readonly home: string;
  readonly folders: PrivateFolders;
  readonly system: readonly Mount[];
  readonly proc_covers: readonly Mount[];
  readonly toolchains: Toolchains;
  readonly guards: Guards;
  /** Folders of HOME and /tmp above the mounts there. */
  readonly pins: readonly Mount[];
  readonly registries?: OwnRegistries;
  /** The snapshot of /etc. */
  readonly etc: string;
  /** Folder with this plan's generated files for /etc. */
  readonly generated: string;
  readonly arch: string;
  /** The plan is for a long-lived program. */
  readonly channel?: ChannelProfile | undefined;
  /** Sockets that it declared. */
  readonly sockets?: readonly Mount[];
  /** What was installed for it, or is being installed. */
  readonly installation?: Mount;
}

/** Of two sets of limits, the smaller of each. */
export function strictest(a: Limits, b: Limits): Limits {
  return {
    memory_bytes: Math.min(a.memory_bytes, b.memory_bytes),
    pids: Math.min(a.pids, b.pids),
    cpus: Math.min(a.cpus, b.cpus),
    file_bytes: Math.min(a.file_bytes, b.file_bytes),
    open_files: Math.min(a.open_files, b.open_files),
    disk_bytes: Math.min(a.disk_bytes, b.disk_bytes),
  };
}

/** What an opening is inside. */
export function openingMounts({ path, access, target = path, through }: RunSpec['openings'][number]): readonly Mount[] {
  const itself: Mount = { kind: 'bind', source: target, dest: path, access };
  if (through === undefined) return [itself];
  const stand_in: Mount = { kind: 'bind', source: through.folder, dest: through.at, access };
  return through.at === dirname(path) ? [stand_in] : [itself, stand_in];
}

function told(openings: RunSpec['openings']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    openings.flatMap(({ path, through }) =>
      through?.variable === undefined ? [] : [[through.variable, join(through.at, basename(path))]],
    ),
  );
}

/** The person's own: HOME, tool chains, Workspaces with their guards, what was opened. Sources of equal places: the last lies on top. */
export function personalMounts(spec: RunSpec, facts: PlanFacts): readonly Mount[] {
  const bind = (path: string, access: 'read' | 'write'): Mount => ({ kind: 'bind', source: path, dest: path, access });
  return [
    ...facts.pins,
    { kind: 'bind', source: facts.folders.home, dest: facts.home, access: 'write' },
    ...facts.toolchains.mounts,
    ...spec.workspaces.map(({ path, access }) => bind(path, access)),
    ...facts.guards.mounts,
    ...(facts.sockets ?? []),
    ...(facts.installation === undefined ? [] : [facts.installation]),
    // Openings come last among equals: a yes that opened a protected path outranks its guard, and one for writing outranks one for reading.
    ...(['read', 'write'] as const).flatMap((given) => spec.openings.filter(({ access }) => access === given).flatMap(openingMounts)),
  ];
}

/** The plan as a pure function of what was asked and what was found. */
export function buildPlan(spec: RunSpec, facts: PlanFacts, config: ExecutionConfig): SandboxPlan {
  const { as, folders, guards, toolchains, channel, sockets = [] } = facts;
  const host_network = channel?.host_network === true;
  const personal = parentsFirst(personalMounts(spec, facts));
  const options = bwrapOptions({
    mounts: [...baseMounts({ ...facts, shared_memory: channel?.shared_memory ?? true }), ...personal, ...SEAL],
    map: as.inside.uid === as.uid && as.inside.gid === as.gid ? undefined : as.inside,
    pty: spec.pty !== undefined,
    nested_userns: spec.nested_userns === true,
    host_network,
  });
  // Ports that every run has are for commands; a program that stays has what it declared.
  const network = networkPlan(spec, channel ? {} : config, facts.registries);
  const own = (channel ? channelBase : environment)({
    config,
    home: facts.home,
    user_name: facts.user_name,
    path: toolchains.path,
    dropped: toolchains.dropped,
    toolchain_env: toolchains.env,
    pty: spec.pty,
    git_config_write: spec.git_config_write,
    opened: spec.openings.length > 0,
    proxied: network?.allow !== undefined,
  });
  const env = { ...own, ...told(spec.openings) };
  const seccomp = seccompFilter(facts.arch, spec.nested_userns === true);
  const rest = {
    bwrap: facts.bwrap,
    args: options,
    env,
    ...(as.drop ? { drop: { uid: as.uid, gid: as.gid } } : {}),
    limits: strictest(config.limits, spec.limits),
    ...(network ? { network } : {}),
    private_home: folders.home,
    private_tmp: folders.tmp,
    watch: guards.watch,
    links: guards.links,
    expect: guards.expect,
    repositories: guards.repositories,
    dimensions: planDimensions({
      as,
      nested_userns: spec.nested_userns === true,
      has_filter: seccomp.byteLength > 0,
      sockets: [...guards.sockets, ...sockets.map(({ dest }) => dest)],
      network,
      host_network,
    }),
    notes: [
      ...toolchains.notes,
      ...guards.notes,
      ...networkNotes(spec, channel ? {} : config, facts.registries),
      ...spec.openings.map(({ path, access }) => `opened for this run: ${path} (${access === 'read' ? 'read-only' : 'read and write'})`),
    ],
  };
  const key = createHash('sha256').update(JSON.stringify(rest)).update(seccomp).digest('hex');
  return { ...rest, args: [...options, '--chdir', spec.cwd], cwd: spec.cwd, seccomp, key };
}

/** The same sandbox with another folder to start in. */
export function startingAt(plan: SandboxPlan, cwd: string): SandboxPlan {
  if (plan.cwd === cwd) return plan;
  // The folder is the last option of bubblewrap; a container hears it at the gate.
  return plan.container ? { ...plan, cwd } : { ...plan, args: [...plan.args.slice(0, -1), cwd], cwd };
}
