import { createHash } from 'node:crypto';
import { environment } from '../containment/environment.ts';
import { GENERATED_AT } from '../containment/generated-files.ts';
import { type Mount, parentsFirst, within } from '../containment/mount.ts';
import { type PlanFacts, personalMounts, strictest } from '../containment/plan.ts';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import { networkNotes, networkPlan } from '../network/plan.ts';
import type { Limits, RunSpec } from '../types.ts';
import { containerDimensions } from './dimensions.ts';
import { bindsOf, mountFlags } from './mount-flags.ts';
import { withSubmounts } from './submounts.ts';
import type { Engine, Target } from './types.ts';

const TMP_BYTES = 256 * 1024 * 1024;

/** Bubblewrap hides it, and engines don't by themselves. Docker can be told nothing of the kind. */
const HIDDEN = '/sys';

/** Of the generated files, those that an image has no better ones of. */
const INTO_IMAGES: readonly string[] = ['hosts', 'gitconfig', 'npmrc', 'pip.conf'];

/** The kernel has so many numbers for processes unless told otherwise, and Podman sets no higher limit. */
const PROCESS_NUMBERS = 32_768;

/** Flags that hold for every run, whatever it is. */
export function fixedFlags({ kind }: Engine, seccomp: string, hidden: readonly string[] = []): readonly string[] {
  return [
    ...['--pull=never', '--network=none', '--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'],
    `--security-opt=seccomp=${seccomp}`,
    // Not relabelled: the Workspace belongs to the person and keeps its labels.
    ...['--security-opt=label=disable', '--shm-size=256m', '--hostname=sandbox'],
    // What it writes goes to pipes of Writ's own and not through the engine.
    ...['--log-driver=none', '--no-healthcheck'],
    // Podman would make more of it writable, and hand on the proxies of our environment.
    ...(kind === 'podman'
      ? ['--read-only-tmpfs=false', '--http-proxy=false', '--systemd=false', `--security-opt=mask=${[HIDDEN, ...hidden].join(':')}`]
      : []),
  ];
}

/** Nothing is limited in steps that an engine would refuse: each number is exact. */
function limitFlags(limits: Limits): readonly string[] {
  return [
    ...[
      `--memory=${limits.memory_bytes}b`,
      `--memory-swap=${limits.memory_bytes}b`,
      `--cpus=${limits.cpus}`,
      `--pids-limit=${limits.pids}`,
    ],
    ...[`--ulimit=nofile=${limits.open_files}:${limits.open_files}`, `--ulimit=fsize=${limits.file_bytes}:${limits.file_bytes}`],
    '--ulimit=core=0:0',
    `--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=${Math.min(TMP_BYTES, limits.disk_bytes)},mode=1777`,
  ];
}

/** The plan of a run in a container, from the same facts as one with bubblewrap. */
export function buildContainerPlan(
  spec: RunSpec,
  facts: PlanFacts,
  config: ExecutionConfig,
  target: Target,
  ours: { readonly open_files: number; readonly processes: number; readonly cpus: number },
): SandboxPlan {
  const { engine, image, named } = target;
  const { as, folders, guards, toolchains } = facts;
  const own = named === undefined;
  // Folders above a Workspace in /tmp are made in the container's own, where nothing but that run can change them.
  const inTmp = new Set(facts.pins.map(({ dest }) => dest).filter((dest) => within(dest, '/tmp')));
  const pins = facts.pins.filter(({ dest }) => !inTmp.has(dest));
  const wanted = strictest(config.limits, spec.limits);
  // More than there is, or than we have ourselves, is refused by one engine or the other.
  const limits = { ...wanted, open_files: Math.min(wanted.open_files, ours.open_files), cpus: Math.min(wanted.cpus, ours.cpus) };
  const generated = Object.entries(GENERATED_AT)
    .filter(([name]) => own || INTO_IMAGES.includes(name))
    .map(([name, dest]): Mount => ({ kind: 'bind', source: `${facts.generated}/${name}`, dest, access: 'read' }));
  const system: readonly Mount[] = own ? [...facts.system, { kind: 'bind', source: facts.etc, dest: '/etc', access: 'read' }] : [];
  const personal = personalMounts(spec, { ...facts, pins, toolchains: own ? toolchains : { ...toolchains, mounts: [] } });
  const mounts = bindsOf([
    ...withSubmounts(system, target.mountinfo),
    ...generated,
    ...parentsFirst(withSubmounts(personal, target.mountinfo)),
  ]);
  const network = networkPlan(spec, config, facts.registries);
  const env: Record<string, string> = {
    ...environment({
      config,
      home: facts.home,
      user_name: facts.user_name,
      path: toolchains.path,
      dropped: toolchains.dropped,
      toolchain_env: own ? toolchains.env : {},
      pty: spec.pty,
      git_config_write: spec.git_config_write,
      proxied: network?.allow !== undefined,
    }),
  };
  // The image knows where its programs are.
  if (!own) delete env['PATH'];
  const hidden = facts.proc_covers.flatMap((mount) => (mount.kind === 'bind' && mount.source === '/dev/null' ? [mount.dest] : []));
  const processes = Math.min(ours.processes, PROCESS_NUMBERS);
  const rest = {
    container: {
      engine,
      image,
      flags: [
        ...fixedFlags(engine, spec.nested_userns === true ? target.seccomp.nested : target.seccomp.plain, hidden),
        ...limitFlags(limits),
        // No limit in truth, since it counts all processes of the user: the engine's own is what some machines do not let it set.
        `--ulimit=nproc=${processes}:${processes}`,
        ...userFlags(engine, as),
        ...mountFlags(mounts),
      ],
      binds: mounts.map(({ dest, access }) => ({ dest, access })),
      keeps_env: !own,
      home: config.home,
    },
    bwrap: '',
    args: [],
    env,
    ...(as.drop ? { drop: { uid: as.uid, gid: as.gid } } : {}),
    limits,
    ...(network ? { network } : {}),
    private_home: folders.home,
    private_tmp: folders.home,
    watch: guards.watch,
    links: guards.links,
    expect: guards.expect.filter(({ path }) => !inTmp.has(path)),
    repositories: guards.repositories,
    dimensions: containerDimensions({ as, engine, nested_userns: spec.nested_userns === true, sockets: guards.sockets, network }),
    notes: [
      `runs in a container of ${engine.kind} ${engine.version}, image ${named ?? "of this machine's own system"} (${image})`,
      ...(own ? toolchains.notes : []),
      ...guards.notes,
      ...networkNotes(spec, config, facts.registries),
      ...spec.openings.map(({ path, access }) => `opened for this run: ${path} (${access === 'read' ? 'read-only' : 'read and write'})`),
    ],
  };
  const key = createHash('sha256').update(JSON.stringify(rest)).digest('hex');
  return { ...rest, cwd: spec.cwd, seccomp: new Uint8Array(), key };
}

/** Who it is inside: the owner of the Workspace. An engine without root has one user only, who is root inside unless Podman keeps the number. */
export function userFlags({ kind, rootless }: Engine, as: Pick<PlanFacts['as'], 'uid' | 'gid'>): readonly string[] {
  if (!rootless) return ['--userns=host', `--user=${as.uid}:${as.gid}`];
  return kind === 'podman' ? ['--userns=keep-id', `--user=${as.uid}:${as.gid}`] : ['--user=0:0'];
}
