import { join } from 'node:path';
import type { ExecutionConfig } from '../../src/execution/core-types.ts';
import type { makeOutside } from './outside.ts';
import { LIMITS } from './scene.ts';

/** An execution in the home that attempts are made from. `leaked`: what its own environment holds and a run must not see. */
export function configIn(outside: Awaited<ReturnType<typeof makeOutside>>, leaked: Readonly<Record<string, string>>): ExecutionConfig {
  return {
    home: outside.writ_home,
    host_env: { PATH: '/usr/bin:/bin', ESCAPE_TOKEN: outside.secret, ...leaked },
    env_pass: [],
    user_home: outside.user_home,
    limits: LIMITS,
    bwrap_candidates: ['/usr/bin/bwrap'],
    runner_argv: [],
    job_retention_ms: 1,
    job_quota_bytes: 1,
    shared_root: join(outside.base, 'shared'),
  };
}
