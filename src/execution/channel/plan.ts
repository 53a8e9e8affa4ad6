import { isAbsolute } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { checkRoots } from '../containment/channel-checks.ts';
import { checkInstallation } from '../containment/installations.ts';
import { within } from '../containment/mount.ts';
import { planUncontainedChannel } from '../containment/uncontained.ts';
import type { ChannelProfile, Containment, ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { ChannelSpec, RunSpec } from '../types.ts';
import { commandFor } from './order.ts';
import { argumentsInside, filesToStart, findProgram } from './program.ts';

const MAX_NAME = 200;
const MAX_ROOTS = 64;
const MAX_SOCKETS = 16;
const MAX_HOSTS = 256;
const MAX_PRESETS = 32;

export interface PlannedChannel {
  readonly plan: SandboxPlan;
  /** For the launcher. */
  readonly command: string;
}

/** What is mounted and what the launcher is told, decided before anything is started. */
export async function planChannel(
  spec: ChannelSpec,
  parts: { readonly config: ExecutionConfig; readonly containment: Containment },
): Promise<PlannedChannel> {
  check(spec);
  checkRoots(spec.roots, { writ_home: parts.config.home, user_home: parts.config.user_home });
  checkInstallation(spec.installation, parts.config);
  const cwd = spec.cwd ?? spec.roots[0]?.path;
  const found = findProgram({ argv: spec.argv, env: spec.env, ...(cwd === undefined ? {} : { cwd }) });
  if (!found.ok) {
    throw new AppError('not_found', `The program ${spec.argv[0]} was not found; looked in ${found.looked_in.join(', ') || 'no folder'}.`, {
      fix: 'Install it, give its absolute path, or add its folder to the PATH of its `env`.',
      data: { looked_in: found.looked_in },
    });
  }
  const argv = argumentsInside(spec.argv);
  if (spec.uncontained) {
    const plan = planUncontainedChannel(spec, parts.config);
    return { plan, command: commandFor({ program: found.path, argv, env: spec.env }) };
  }
  const plan = await parts.containment.plan(runOf(spec), profileOf(spec, filesToStart(found.path, { argv, env: spec.env })));
  // What containment sets stands; of it only the language is a mere default.
  const own = Object.entries(spec.env).filter(([name]) => name === 'LANG' || !Object.hasOwn(plan.env, name));
  return { plan, command: commandFor({ program: found.path, argv, env: Object.fromEntries(own) }) };
}

function check({ name, argv, cwd, roots, unix_sockets, network }: ChannelSpec): void {
  const refuse = (why: string): never => {
    throw new AppError('invalid_arguments', `The program can't be started: ${why}.`);
  };
  if (name === '' || name.length > MAX_NAME) refuse(`its name has to have 1 to ${MAX_NAME} characters`);
  if (!argv[0]) refuse('it has no name of a program');
  if (cwd !== undefined && !isAbsolute(cwd)) refuse(`its folder ${cwd} is not absolute`);
  if (roots.length > MAX_ROOTS) refuse(`it has ${roots.length} roots, and ${MAX_ROOTS} are the most`);
  if (unix_sockets.length > MAX_SOCKETS) refuse(`it has ${unix_sockets.length} sockets, and ${MAX_SOCKETS} are the most`);
  if (
    typeof network === 'object' &&
    (network.hosts.length + (network.own?.length ?? 0) > MAX_HOSTS || network.presets.length > MAX_PRESETS)
  ) {
    refuse(`at most ${MAX_HOSTS} hosts and ${MAX_PRESETS} presets can be opened`);
  }
}

/** In the words of the planner, which was made for commands. */
function runOf(spec: ChannelSpec): RunSpec {
  return {
    command: '',
    cwd: spec.cwd ?? '',
    workspaces: spec.roots,
    owner: spec.owner ?? { organization: '', agent: '', run: '', workspace: '' },
    stdin: 'closed',
    timeout_ms: 0,
    limits: spec.limits,
    openings: [],
    ...(typeof spec.network === 'object' ? { network: { hosts: spec.network.hosts, presets: spec.network.presets } } : {}),
    git_config_write: false,
    ...(spec.nested_userns ? { nested_userns: true } : {}),
  };
}

/** Variables that containment reads itself: where programs and tool chains lie. */
const LOOKED_AT = ['PATH', 'VIRTUAL_ENV', 'JAVA_HOME', 'GOPATH', 'CARGO_HOME', 'NVM_DIR', 'USER'] as const;

function profileOf(spec: ChannelSpec, programs: readonly string[]): ChannelProfile {
  return {
    name: spec.name,
    env: Object.fromEntries(LOOKED_AT.flatMap((name) => (spec.env[name] === undefined ? [] : [[name, spec.env[name]]]))),
    programs: programs.filter((program) => spec.installation === undefined || !within(program, spec.installation.path)),
    ...(spec.installation === undefined ? {} : { installation: spec.installation }),
    ...(typeof spec.network === 'object' && spec.network.own !== undefined ? { own_hosts: spec.network.own } : {}),
    host_network: spec.network === 'full',
    unix_sockets: spec.unix_sockets,
    shared_memory: spec.dev_shm === true,
  };
}
