import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { RunSpec } from '../types.ts';

/** For tests of this folder: a small plan made by hand, so that carrying out is tested apart from planning. */
export interface HandMade {
  readonly home: string;
  readonly workspace: string;
  readonly config: ExecutionConfig;
  folder(name: string): string;
  plan(changes?: Partial<SandboxPlan>, options?: { terminal?: boolean; chdir?: string }): SandboxPlan;
  spec(command: string, changes?: Partial<RunSpec>): RunSpec;
  remove(): void;
}

/** One BPF instruction: allow. */
const ALLOW_ALL = Uint8Array.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

export const TEST_LIMITS = {
  memory_bytes: 512 * 1024 * 1024,
  pids: 256,
  cpus: 2,
  file_bytes: 1024 * 1024 * 1024,
  open_files: 1024,
  disk_bytes: 1024 * 1024 * 1024,
};

/** `uid`: whose workspace it is, for root only; runs are dropped to it. */
export function makeHandPlan(uid?: number): HandMade {
  const root = mkdtempSync(join(tmpdir(), 'writ-running-'));
  chmodSync(root, 0o711);
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  const private_home = join(root, 'private-home');
  const private_tmp = join(root, 'private-tmp');
  for (const folder of [home, workspace, private_home, private_tmp]) mkdirSync(folder, { mode: 0o700 });
  if (uid !== undefined) for (const folder of [workspace, private_home, private_tmp]) chownSync(folder, uid, uid);
  writeFileSync(join(home, 'marker'), 'outside');
  const config: ExecutionConfig = {
    home,
    host_env: {},
    env_pass: [],
    user_home: '/home/nobody',
    limits: TEST_LIMITS,
    bwrap_candidates: ['/usr/bin/bwrap'],
    runner_argv: [],
    job_retention_ms: 1,
    job_quota_bytes: 1,
  };
  return {
    home,
    workspace,
    config,
    folder(name) {
      const folder = join(root, name);
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    },
    plan(changes = {}, options = {}) {
      const args = [
        ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
        ...['--disable-userns', '--die-with-parent', '--cap-drop', 'ALL'],
        ...(options.terminal === true ? [] : ['--new-session']),
        ...[
          '--ro-bind',
          '/usr',
          '/usr',
          '--symlink',
          'usr/bin',
          '/bin',
          '--symlink',
          'usr/lib',
          '/lib',
          '--symlink',
          'usr/lib64',
          '/lib64',
        ],
        ...['--ro-bind', '/etc/passwd', '/etc/passwd', '--dev', '/dev', '--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
        ...['--bind', private_tmp, '/tmp', '--bind', private_home, '/home/nobody', '--bind', workspace, workspace],
      ];
      const cwd = options.chdir ?? workspace;
      return {
        bwrap: '/usr/bin/bwrap',
        args: [...args, '--chdir', cwd],
        cwd,
        env: { PATH: '/usr/bin:/bin', HOME: '/home/nobody', TMPDIR: '/tmp', LANG: 'C.UTF-8', TERM: 'dumb' },
        ...(uid === undefined ? {} : { drop: { uid, gid: uid } }),
        seccomp: ALLOW_ALL,
        limits: TEST_LIMITS,
        private_home,
        private_tmp,
        watch: [],
        dimensions: { network: { state: 'enforced', by: 'network namespace' }, fs_write: { state: 'enforced', by: 'mount namespace' } },
        notes: [],
        key: JSON.stringify([args, changes]),
        ...changes,
      };
    },
    spec(command, changes = {}) {
      return {
        command,
        cwd: workspace,
        workspaces: [{ path: workspace, access: 'write' }],
        owner: { organization: 'org', agent: 'agent', run: 'run', workspace },
        stdin: 'closed',
        timeout_ms: 20_000,
        limits: TEST_LIMITS,
        openings: [],
        git_config_write: false,
        ...changes,
      };
    },
    remove() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
