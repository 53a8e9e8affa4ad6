import { fileURLToPath } from 'node:url';
import { createExecution, type Execution, runnerArgv } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { version } from './version.ts';

/** Where bubblewrap is looked for. */
export const BWRAP_CANDIDATES: readonly string[] = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'];

const DAY = 24 * 3_600_000;

/** Shell executions of this machine, in a runner process of their own. */
export function createLocalExecution(parts: {
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly config: Config;
  /** The program of the runner process. */
  readonly runner: URL;
  readonly logger: Logger;
  readonly clock: Clock;
}): Execution {
  const { facts, home, config } = parts;
  if (facts.user.home === undefined) {
    throw new AppError('config_invalid', `The user with uid ${facts.uid} has no home folder in the password database.`, {
      fix: 'Give the account a home folder.',
    });
  }
  return createExecution(
    {
      home,
      host_env: facts.host_env,
      backend: config.sandbox.backend,
      container: { ...(config.sandbox.image === null ? {} : { image: config.sandbox.image }) },
      env_pass: config.sandbox.env_pass,
      loopback: config.sandbox.loopback,
      user_home: facts.user.home,
      limits: config.sandbox.limits,
      bwrap_candidates: BWRAP_CANDIDATES,
      runner_argv: runnerArgv(fileURLToPath(parts.runner)),
      job_retention_ms: config.limits.job_retention_days * DAY,
      job_quota_bytes: config.limits.job_quota_bytes,
      version,
    },
    { clock: parts.clock, logger: parts.logger },
  );
}
