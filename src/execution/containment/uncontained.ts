import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { ChannelSpec, RunSpec } from '../types.ts';
import { readAccounts, userName } from './accounts.ts';
import { uncontainedEnvironment } from './environment.ts';
import { kindOf, realPath } from './look.ts';
import { within } from './mount.ts';
import { whoRuns } from './planner.ts';
import type { RunAs } from './run-as.ts';

/**
 * A run that a person let out of containment: as the Workspace's user, in their own home, with an environment from the allow-list and
 * nothing around it. It needs no proof of containment, and works where there is none.
 */
export function planUncontained(spec: RunSpec, config: ExecutionConfig): SandboxPlan {
  const primary = spec.workspaces[0]?.path ?? '/';
  const cwd = realPath(spec.cwd);
  if (cwd === undefined || kindOf(cwd) !== 'folder' || !spec.workspaces.some(({ path }) => within(cwd, path))) {
    throw new AppError('invalid_arguments', `The folder ${spec.cwd} is not a folder inside a workspace of this run.`);
  }
  if (spec.pty !== undefined || spec.network !== undefined || spec.ports !== undefined || spec.openings.length > 0) {
    throw new AppError('internal', 'A run without containment has everything open already.');
  }
  const accounts = readAccounts();
  const as = whoRuns(primary, accounts);
  const env = uncontainedEnvironment({
    config,
    home: as.drop ? homeOf(as.uid) : config.user_home,
    user_name: userName(as.uid, accounts, config.host_env['USER']),
    own: !as.drop,
  });
  return nothingAround({ as, env, cwd, limits: spec.limits });
}

/** A program that stays and that the operator let out: as the owner of its first folder, else as Writ's own user. */
export function planUncontainedChannel(spec: ChannelSpec, config: ExecutionConfig): SandboxPlan {
  const accounts = readAccounts();
  const as = whoRuns(spec.roots[0]?.path ?? config.user_home, accounts);
  const home = as.drop ? homeOf(as.uid) : config.user_home;
  const cwd = realPath(spec.cwd ?? spec.roots[0]?.path ?? home);
  if (cwd === undefined || kindOf(cwd) !== 'folder') throw new AppError('invalid_arguments', `${spec.cwd ?? home} is not a folder.`);
  const user_name = userName(as.uid, accounts, config.host_env['USER']);
  // What it is given itself comes through the gate; this is for the launcher, and for what it wasn't given.
  const env = { PATH: LAUNCHER_PATH, LANG: 'C.UTF-8', HOME: home, USER: user_name, LOGNAME: user_name };
  return nothingAround({ as, env, cwd, limits: spec.limits });
}

const LAUNCHER_PATH = '/usr/local/bin:/usr/bin:/bin';

function nothingAround({ as, env, cwd, limits }: Pick<SandboxPlan, 'env' | 'cwd' | 'limits'> & { readonly as: RunAs }): SandboxPlan {
  const rest = {
    bwrap: '',
    args: [],
    env,
    ...(as.drop ? { drop: { uid: as.uid, gid: as.gid } } : {}),
    limits,
    private_home: '',
    private_tmp: '',
    watch: [],
    dimensions: {},
    notes: [`ran without containment as uid ${as.uid}, as it was allowed to`],
  };
  return { ...rest, cwd, seccomp: new Uint8Array(), key: createHash('sha256').update(JSON.stringify(rest)).digest('hex') };
}

function homeOf(uid: number): string {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return line?.split(':')[5] || '/';
}
