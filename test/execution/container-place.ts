import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createExecution, type Execution, type ExecutionConfig, type RunSpec, runnerArgv } from '../../src/execution/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { RUNNER } from '../helpers/programs.ts';

/** Nobody's on any machine: runs of root in this user's Workspace are dropped to it. */
export const UID = 23_456;
export const PODMAN = { kind: 'podman', path: '/usr/bin/podman' } as const;
const LIMITS = { memory_bytes: 256 << 20, pids: 64, cpus: 1, file_bytes: 1 << 30, open_files: 1024, disk_bytes: 1 << 30 } as const;
const OWNER = { organization: 'org_local', agent: 'agent_a', run: 'run_a', workspace: 'ws_a' } as const;
export const NEVER = new AbortController().signal;
const RUNNER_FILE = fileURLToPath(RUNNER);

export interface ContainerPlace {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly config: ExecutionConfig;
  execution(more?: Partial<ExecutionConfig>): Execution;
  spec(command: string, more?: Partial<RunSpec>): RunSpec;
  /** Podman on the storage of this place. */
  podman(...args: string[]): string;
  remove(): Promise<void>;
}

/** A Writ home, a Workspace and an engine's storage of their own. */
export function makeContainerPlace(): ContainerPlace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-container-')));
  chmodSync(root, 0o711);
  const [home, work, workspace, user_home] = ['writ', 'work', 'work/project', 'person'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, user_home]) mkdirSync(folder, { mode: 0o700 });
  for (const folder of [work, workspace]) mkdirSync(folder, { mode: 0o755 });
  if (process.getuid?.() === 0) chownSync(workspace, UID, UID);
  const made: Execution[] = [];
  const config: ExecutionConfig = {
    home,
    backend: 'container',
    container: { engines: [PODMAN] },
    host_env: { PATH: '/usr/bin:/bin', SECRET_OF_THE_HOST: 'canary' },
    env_pass: [],
    user_home,
    shared_root: join(root, 'shared'),
    limits: LIMITS,
    bwrap_candidates: [],
    runner_argv: runnerArgv(RUNNER_FILE),
    job_retention_ms: 7 * 24 * 3_600_000,
    job_quota_bytes: 2 ** 31,
  };
  return {
    root,
    home,
    workspace,
    config,
    execution(more = {}) {
      const execution = createExecution({ ...config, ...more }, { clock: systemClock, logger: silentLogger });
      made.push(execution);
      return execution;
    },
    spec: (command, more = {}) => ({
      command,
      cwd: workspace,
      workspaces: [{ path: workspace, access: 'write' }],
      owner: OWNER,
      stdin: 'closed',
      timeout_ms: 30_000,
      limits: LIMITS,
      openings: [],
      git_config_write: false,
      ...more,
    }),
    podman: (...args) => execFileSync(PODMAN.path, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    async remove() {
      await Promise.all(made.map((execution) => execution.close()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}
