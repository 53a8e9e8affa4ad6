import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createExecution, type Execution, type ExecutionConfig, type RunSpec } from '../../src/execution/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { PREPARED } from '../helpers/prepared.ts';

/** A Writ home, a person's home and a workspace of their own for one test, with the real runner. */
export interface Place {
  readonly home: string;
  readonly workspace: string;
  /** `dieAt`: a step of the handshake, and after a blank who is killed there (see test/fixtures/execution-runner.ts). */
  config(dieAt?: string): ExecutionConfig;
  execution(dieAt?: string): Execution;
  spec(command: string, more?: Partial<RunSpec>): RunSpec;
  /** Lines of a file in the workspace; none when it is not there. */
  lines(name: string): readonly string[];
  remove(): Promise<void>;
}

export const NEVER = new AbortController().signal;
export const OWNER = { organization: 'org_local', agent: 'agent_a', run: 'run_a', workspace: 'ws_a' } as const;
const LIMITS = { memory_bytes: 1 << 30, pids: 256, cpus: 2, file_bytes: 1 << 30, open_files: 1024, disk_bytes: 1 << 30 } as const;
const RUNNER = fileURLToPath(new URL('../fixtures/execution-runner.ts', import.meta.url));

/** `home`: where the Writ home is to be instead of in the temporary folder. */
export function makePlace(options: { readonly home?: string } = {}): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-place-')));
  const home = options.home ?? join(root, 'writ');
  const workspace = join(root, 'work', 'project');
  const user_home = join(root, 'person');
  for (const folder of [home, workspace, user_home]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  PREPARED.giveProof(home);
  const made: Execution[] = [];
  const place: Place = {
    home,
    workspace,
    config: (dieAt = 'never') => ({
      home,
      host_env: { PATH: '/usr/bin:/bin' },
      env_pass: [],
      user_home,
      limits: LIMITS,
      bwrap_candidates: ['/usr/bin/bwrap'],
      runner_argv: ['/usr/bin/env', `NODE_COMPILE_CACHE=${PREPARED.env.NODE_COMPILE_CACHE}`, process.execPath, RUNNER, ...dieAt.split(' ')],
      job_retention_ms: 7 * 24 * 3_600_000,
      job_quota_bytes: 2 ** 31,
    }),
    execution(dieAt) {
      const execution = createExecution(place.config(dieAt), { clock: systemClock, logger: silentLogger });
      made.push(execution);
      return execution;
    },
    spec: (command, more = {}) => ({
      command,
      cwd: workspace,
      workspaces: [{ path: workspace, access: 'write' }],
      owner: OWNER,
      stdin: 'closed',
      timeout_ms: 60_000,
      limits: LIMITS,
      openings: [],
      git_config_write: false,
      ...more,
    }),
    lines(name) {
      try {
        return readFileSync(join(workspace, name), 'utf8').split('\n').filter(Boolean);
      } catch {
        return [];
      }
    },
    async remove() {
      await Promise.all(made.map((execution) => execution.close()));
      PREPARED.keepProof(home);
      rmSync(root, { recursive: true, force: true });
    },
  };
  return place;
}

/** PID of the runner that took the execution of this folder. */
export function runnerOf(folder: string): number {
  return (JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')) as { holder: { process: { pid: number } } }).holder.process.pid;
}

/** PIDs of living processes whose command line holds this text (zombies have none). */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
