import { fileURLToPath } from 'node:url';
import type { Approvals, Taints } from '../../src/approvals/types.ts';
import type { Bed } from '../../src/execution/containment/testing.ts';
import { createExecution, type Execution, runnerArgv } from '../../src/execution/index.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { readProcess } from '../../src/kernel/config/index.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import { openApprovals } from '../../src/main/parts/approvals.ts';
import { openAudit } from '../../src/main/parts/audit.ts';
import { createConfigs } from '../../src/main/parts/configs.ts';
import { openDatabase } from '../../src/main/parts/database.ts';
import { once } from '../../src/main/parts/once.ts';
import { createServing } from '../../src/main/parts/serving.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';

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
  const [logger, clock] = [silentLogger, systemClock];
  const real = readProcess();
  const facts = { ...real, host_env, cwd: workspace, user: { ...real.user, home: user_home } };
  const redactor = createRedactor();
  const database = openDatabase(home, WRITER_THREAD);
  const configFor = createConfigs({ facts, home: () => home, logger });
  const config = await configFor(workspace);
  const audit = once(async () => openAudit({ home, database, clock, logger, config: config.audit }));
  const asking = openApprovals({ database, audit, clock, logger, redactor, config, host_env });
  const execution = createExecution(
    { ...bed.config, limits: config.sandbox.limits, runner_argv: [...runnerArgv(RUNNER), JSON.stringify(places)] },
    { clock, logger },
  );
  const serving = await createServing({
    facts,
    home,
    config,
    configFor,
    redactor,
    logger,
    clock,
    version: '0.0.0',
    execution: async () => execution,
    audit,
    asking: async () => asking,
  });
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
