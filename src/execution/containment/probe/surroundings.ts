import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { type ErrorCode, toAppError } from '../../../kernel/errors.ts';
import type { ExecutionConfig, ProbeMode, SandboxPlan } from '../../core-types.ts';
import type { ContainmentReport, RunSpec } from '../../types.ts';
import { createPlanner, type PlanMaker } from '../planner.ts';
import type { Facts } from './checks.ts';
import { makeScratch, type Scratch } from './scratch.ts';
import { NAMESPACES, probeScript } from './script.ts';

export type ModeResult =
  | { readonly ok: true; readonly report: ContainmentReport }
  | { readonly ok: false; readonly code?: ErrorCode; readonly cause: string; readonly fix: string; readonly detail: string };

export interface Surroundings {
  readonly deadline_ms: number;
  /** Of ours, as far as being in another one is a sign of anything. */
  readonly namespaces: Facts;
  /** Absent: bubblewrap. */
  readonly maker?: PlanMaker;
  /** What a probe that can't be made is called. */
  readonly code?: ErrorCode;
}

/**
 * What a probe compares with and reaches for, whichever backend it tries: a scratch Workspace, a file of the home, a variable and two
 * sockets of this process. `run` carries the script out under the plan; all of it is gone when that has ended.
 */
export async function amongBaits(
  config: ExecutionConfig,
  mode: ProbeMode,
  { deadline_ms, namespaces, maker, code }: Surroundings,
  run: (plan: SandboxPlan, script: string) => Promise<ModeResult>,
): Promise<ModeResult> {
  const canary = `canary-${randomBytes(12).toString('hex')}`;
  const listeners: Server[] = [];
  let scratch: Scratch | undefined;
  try {
    scratch = makeScratch(config, mode);
    const { workspace, bait } = scratch;
    const tcp = await listen(listeners, { host: '127.0.0.1', port: 0 });
    const abstract = `writ-probe-${randomBytes(8).toString('hex')}`;
    await listen(listeners, { path: `\0${abstract}` });
    const address = tcp.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const planner = createPlanner({ ...config, host_env: { ...config.host_env, WRIT_PROBE_CANARY: canary } }, undefined, maker);
    const plan = await planner(scratchSpec(workspace, config, deadline_ms), true);
    return await run(plan, probeScript({ canary, port, abstract, hidden: bait, scratch: workspace, namespaces }));
  } catch (thrown) {
    const error = toAppError(thrown);
    const timedOut = thrown instanceof Error && thrown.name === 'AbortError';
    return {
      ok: false,
      ...(code === undefined ? {} : { code }),
      cause: timedOut ? `The probe did not end within ${deadline_ms / 1000} seconds.` : error.message,
      fix: error.fix ?? 'Run `writ doctor` again; if it stays, the detail says what failed.',
      detail: error.code,
    };
  } finally {
    for (const server of listeners) server.close();
    scratch?.remove();
  }
}

export function ownNamespaces(): Facts {
  return Object.fromEntries(NAMESPACES.map((name) => [name, readlinkSync(`/proc/self/ns/${name}`)]));
}

function scratchSpec(scratch: string, { limits }: Pick<ExecutionConfig, 'limits'>, timeout_ms: number): RunSpec {
  return {
    command: '',
    cwd: scratch,
    workspaces: [{ path: scratch, access: 'write' }],
    owner: { organization: 'writ', agent: 'probe', run: 'probe', workspace: 'probe' },
    stdin: 'closed',
    timeout_ms,
    limits,
    openings: [],
    git_config_write: false,
  };
}

/** Something of the host that must not be reached from inside; put with the others that are closed afterwards. */
async function listen(listeners: Server[], where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  listeners.push(server);
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(where, done);
  });
  return server;
}
