import { fileURLToPath } from 'node:url';
import type { Approvals, Taints } from '../../src/approvals/types.ts';
import type { Bed } from '../../src/execution/containment/testing.ts';
import { createExecution, type Execution, runnerArgv } from '../../src/execution/index.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import { readProcess } from '../../src/kernel/config/index.ts';
import { createServing } from '../../src/main/parts/serving.ts';
import { openParts } from '../helpers/composed.ts';

/** Writ as it is composed for an agent, in this process: gate, approvals, tools, audit, and a runner whose network is that of the test. */
export interface Whole {
  readonly approvals: Approvals;
  readonly execution: Execution;
  readonly taints: Taints;
  call(tool: string, args: Readonly<Record<string, unknown>>, run?: string): Promise<GateAnswer>;
  close(): Promise<void>;
}

const RUNNER = fileURLToPath(new URL('../fixtures/world-runner.ts', import.meta.url));

export async function openWhole(bed: Bed, places: readonly (readonly [string, number])[]): Promise<Whole> {
  const { workspace, user_home } = bed;
  const { home, host_env } = bed.config;
  const real = readProcess();
  const facts = { ...real, host_env, cwd: workspace, user: { ...real.user, home: user_home } };
  const { asking, ...parts } = await openParts(facts, home, workspace);
  const { config, audit } = parts;
  const execution = createExecution(
    { ...bed.config, limits: config.sandbox.limits, runner_argv: [...runnerArgv(RUNNER), JSON.stringify(places)] },
    parts,
  );
  const serving = await createServing({ ...parts, execution: async () => execution, asking: async () => asking });
  const workspaces = [{ path: workspace, access: 'write' }] as const;
  await serving.enter(workspaces);
  serving.serverParts('default');
  return {
    approvals: asking.approvals,
    execution,
    taints: asking.taints,
    call: (tool, args, run = 'run_1') =>
      serving.gate.call({
        tool,
        arguments: args,
        owner: { organization: 'org_local', agent: 'agent_local', run, workspace },
        workspaces,
        toolset: 'default',
        signal: new AbortController().signal,
        progress: () => {},
      }),
    async close() {
      await execution.close();
      await asking.approvals.close();
      await (await audit()).close();
    },
  };
}
