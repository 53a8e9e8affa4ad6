import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionConfig, SandboxPlan } from '../core-types.ts';
import type { Limits, RunSpec } from '../types.ts';
import { createPlanner } from './planner.ts';
import { type BashResult, containedBash } from './probe/contained-bash.ts';

/** For the tests of this folder only: a made-up machine below a temporary folder, and real sandboxes on it. */

export const LIMITS: Limits = {
  memory_bytes: 1 << 30,
  pids: 200,
  cpus: 2,
  file_bytes: 1 << 30,
  open_files: 1024,
  disk_bytes: 1 << 30,
};
export const isRoot = process.getuid?.() === 0;

export interface Bed {
  readonly base: string;
  /** The person's home, with something secret in it. */
  readonly user_home: string;
  readonly workspace: string;
  readonly config: ExecutionConfig;
  /** Makes a file (parents too) below the base and returns its path. */
  file(path: string, text?: string, mode?: number): string;
  folder(path: string): string;
  /** Gives everything below a folder to a user; for root only. */
  give(path: string, uid: number): void;
  spec(more?: Partial<RunSpec>): RunSpec;
  plan(more?: Partial<RunSpec>, config?: Partial<ExecutionConfig>): Promise<SandboxPlan>;
  /** Plans and runs a script. */
  run(script: string, more?: Partial<RunSpec>, config?: Partial<ExecutionConfig>): Promise<BashResult>;
  remove(): void;
}

export function makeBed(): Bed {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-containment-')));
  chmodSync(base, 0o711);
  const user_home = join(base, 'people/dev');
  const workspace = join(base, 'work/app');
  const writ = join(user_home, '.writ');
  for (const path of [user_home, workspace, writ]) mkdirSync(path, { recursive: true });
  chmodSync(writ, 0o700);
  writeFileSync(join(user_home, 'secret.txt'), 'the secret of the home');
  writeFileSync(join(writ, 'key'), 'the secret of writ');
  const config: ExecutionConfig = {
    home: writ,
    host_env: { PATH: '/usr/local/bin:/usr/bin:/bin', USER: 'dev', HOME: user_home },
    env_pass: [],
    user_home,
    limits: LIMITS,
    bwrap_candidates: ['/usr/bin/bwrap'],
    runner_argv: [],
    job_retention_ms: 1000,
    job_quota_bytes: 1000,
    shared_root: join(base, 'shared'),
  };
  const spec = (more: Partial<RunSpec> = {}): RunSpec => ({
    command: '',
    cwd: more.workspaces?.[0]?.path ?? workspace,
    workspaces: [{ path: workspace, access: 'write' }],
    owner: { organization: 'org', agent: 'agent', run: 'run', workspace: 'ws' },
    stdin: 'closed',
    timeout_ms: 10_000,
    limits: LIMITS,
    openings: [],
    git_config_write: false,
    ...more,
  });
  const planner = createPlanner(config);
  const plan: Bed['plan'] = (more, changed) => (changed ? createPlanner({ ...config, ...changed }) : planner)(spec(more));
  return {
    base,
    user_home,
    workspace,
    config,
    file(path, text = '', mode = 0o644) {
      const full = path.startsWith('/') ? path : join(base, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text, { mode });
      return full;
    },
    folder(path) {
      const full = path.startsWith('/') ? path : join(base, path);
      mkdirSync(full, { recursive: true });
      return full;
    },
    give,
    spec,
    plan,
    run: async (script, more, changed) => containedBash(await plan(more, changed), script, AbortSignal.timeout(20_000)),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

function give(path: string, uid: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) lchownSync(join(entry.parentPath, entry.name), uid, uid);
  chownSync(path, uid, uid);
}
