import { join } from 'node:path';
import { createExecution, type Execution, type ExecutionConfig, type RunResult, type RunSpec, runnerArgv } from '../src/execution/index.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { defaultConfig, readProcess } from '../src/kernel/config/index.ts';
import { silentLogger } from '../src/kernel/logger.ts';
import type { Place } from './place.ts';

/** The room as the program makes it: its runner is the built one, in a process of its own. */
export interface Room {
  readonly config: ExecutionConfig;
  readonly execution: Execution;
  readonly workspace: string;
  spec(command: string, more?: Partial<RunSpec>): RunSpec;
  /** Runs it and insists on exit code 0. */
  run(command: string, more?: Partial<RunSpec>): Promise<RunResult>;
}

export function makeRoom(place: Place, name: string): Room {
  const facts = readProcess();
  const workspace = place.folder(join(name, 'workspace'));
  const { limits } = defaultConfig(facts).sandbox;
  const config: ExecutionConfig = {
    home: place.folder(join(name, 'home')),
    host_env: facts.host_env,
    env_pass: [],
    user_home: facts.user.home ?? '/nonexistent',
    limits,
    bwrap_candidates: ['/usr/bin/bwrap', '/usr/local/bin/bwrap'],
    runner_argv: runnerArgv(place.runner),
    job_retention_ms: 3_600_000,
    job_quota_bytes: 1024 ** 3,
    version: 'bench',
  };
  const execution = createExecution(config, { clock: systemClock, logger: silentLogger });
  const spec: Room['spec'] = (command, more = {}) => ({
    command,
    cwd: workspace,
    workspaces: [{ path: workspace, access: 'write' }],
    owner: { organization: 'org_bench', agent: 'agent_bench', run: 'run_bench', workspace },
    stdin: 'closed',
    timeout_ms: 120_000,
    limits,
    openings: [],
    git_config_write: false,
    ...more,
  });
  return {
    config,
    execution,
    workspace,
    spec,
    async run(command, more) {
      const result = await execution.run(spec(command, more), new AbortController().signal);
      const { outcome } = result;
      if (outcome.state !== 'exited' || outcome.exit_code !== 0) throw new Error(`${command}: ${JSON.stringify(outcome)}`);
      return result;
    },
  };
}
