import { existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { procCovers } from './base-mounts.ts';
import { generatedFiles } from './generated-files.ts';
import { gatherGuards } from './guards.ts';
import { type Mount, within } from './mount.ts';
import { buildPlan } from './plan.ts';
import { ensurePrivateFolders, privateFolders, writeGenerated } from './private-folders.ts';
import { type RunAs, runAs } from './run-as.ts';
import { systemMounts } from './system-mounts.ts';
import { gatherToolchains } from './toolchains.ts';

export function findBwrap(candidates: readonly string[]): string {
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new AppError('containment_unavailable', `bubblewrap was not found at ${candidates.join(', ')}.`, {
    fix: 'Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora, RHEL), pacman -S bubblewrap (Arch).',
  });
}

async function passwdGid(uid: number): Promise<number | undefined> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const line = text.split('\n').find((one) => one.split(':')[2] === String(uid));
  const gid = Number(line?.split(':')[3]);
  return Number.isInteger(gid) && line !== undefined ? gid : undefined;
}

async function whoRuns(workspace: string): Promise<RunAs> {
  const folder = await stat(workspace);
  const gid = await passwdGid(folder.uid);
  return runAs({
    self: { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
    workspace: { uid: folder.uid, gid: folder.gid },
    ...(gid === undefined ? {} : { passwd_gid: gid }),
  });
}

/** Gathers the facts of one run and hands them to the pure builder. */
export function createPlanner(config: ExecutionConfig): (spec: RunSpec) => Promise<SandboxPlan> {
  let system: Promise<readonly Mount[]> | undefined;
  let covers: readonly Mount[] | undefined;
  return async (spec) => {
    const primary = spec.workspaces[0];
    if (primary === undefined) throw new AppError('invalid_arguments', 'A run needs at least one workspace.');
    for (const { path } of spec.workspaces) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== path)
        throw new AppError('invalid_arguments', `The workspace ${path} is not a real path (${real ?? 'it does not exist'}).`);
    }
    const cwd = await realpath(spec.cwd).catch(() => undefined);
    if (cwd === undefined || !spec.workspaces.some(({ path }) => within(cwd, path))) {
      throw new AppError('invalid_arguments', `The folder ${spec.cwd} is not inside a workspace of this run.`, {
        fix: `Use a folder below ${spec.workspaces.map(({ path }) => path).join(' or ')}.`,
      });
    }
    system ??= systemMounts();
    covers ??= procCovers();
    const as = await whoRuns(primary.path);
    const folders = privateFolders(config, primary.path, as);
    const home = config.user_home;
    const user_name = config.host_env['USER'] ?? 'user';
    await ensurePrivateFolders(folders, as);
    await writeGenerated(
      folders.etc,
      generatedFiles({ as, user_name, home, workspaces: spec.workspaces.map(({ path }) => path), person: {} }),
    );
    return buildPlan(
      { ...spec, cwd },
      {
        bwrap: findBwrap(config.bwrap_candidates),
        as,
        user_name,
        home,
        folders,
        system: await system,
        proc_covers: covers,
        toolchains: gatherToolchains(config),
        guards: gatherGuards(spec.workspaces, { git_config_write: spec.git_config_write, home }),
        sockets: [],
        arch: process.arch,
      },
      config,
    );
  };
}
