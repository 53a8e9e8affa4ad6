import { createHash } from 'node:crypto';
import type { Execution } from '../../execution/index.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';

/** Whose commands meet the same surroundings share an execution; each of these has a runner process of its own. */
const MAX_EXECUTIONS = 32;

export interface Lease {
  readonly execution: Execution;
  /** Closed with the last lease: foreground runs end, jobs go on. */
  release(): Promise<void>;
}

export interface Executions {
  /** AppError busy when too many different surroundings are in use. */
  lease(facts: ProcessFacts, config: Config): Lease;
  close(): Promise<void>;
}

/**
 * The executions of a process that serves programs started in different environments: what a command inherits (PATH, tool chains) is that of
 * the program whose agent asked for it, never that of the server.
 */
export function createExecutions(make: (facts: ProcessFacts, config: Config) => Execution): Executions {
  const open = new Map<string, { readonly execution: Execution; leases: number }>();
  return {
    lease(facts, config) {
      const key = keyOf(facts, config);
      const found = open.get(key);
      if (found === undefined && open.size >= MAX_EXECUTIONS) {
        throw new AppError('busy', `Agents in ${MAX_EXECUTIONS} different environments are served already.`);
      }
      const entry = found ?? { execution: make(facts, config), leases: 0 };
      open.set(key, entry);
      entry.leases += 1;
      let held = true;
      return {
        execution: entry.execution,
        async release() {
          if (!held) return;
          held = false;
          entry.leases -= 1;
          if (entry.leases > 0) return;
          open.delete(key);
          await entry.execution.close();
        },
      };
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map(({ execution }) => execution.close()));
    },
  };
}

function keyOf({ host_env }: ProcessFacts, { sandbox, limits }: Config): string {
  const env = Object.entries(host_env).sort();
  return createHash('sha256')
    .update(JSON.stringify([env, sandbox, limits]))
    .digest('hex');
}
