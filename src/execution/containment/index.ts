import type { Logger } from '../../kernel/logger.ts';
import type { Containment, ExecutionConfig } from '../core-types.ts';
import { createPlanner } from './planner.ts';

/** Plans sandboxes and proves that this machine can carry them out. */
export function createContainment(config: ExecutionConfig, logger: Logger): Containment {
  const plan = createPlanner(config);
  return {
    plan,
    async probe() {
      logger.debug('probe is not built yet');
      return { ok: false, cause: 'not probed', fix: '', detail: '', probed_at: Date.now() };
    },
  };
}
