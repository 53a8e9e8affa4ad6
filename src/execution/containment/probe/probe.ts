import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { type ErrorCode, toAppError } from '../../../kernel/errors.ts';
import type { ExecutionConfig, ProbeMode, SandboxPlan } from '../../core-types.ts';
import type { ContainmentReport } from '../../types.ts';
import { fullReport } from '../dimensions.ts';
import { createPlanner } from '../planner.ts';
import { adviceFor, kernelSettings } from './advice.ts';
import { type Facts, failures, parseFacts } from './checks.ts';
import { containedBash } from './contained-bash.ts';
import { makeScratch, type Scratch } from './scratch.ts';
import { probeScript } from './script.ts';
import { listen, ownNamespaces, scratchSpec } from './surroundings.ts';

const DEADLINE_MS = 10_000;
const MAX_DETAIL = 2000;

export type ModeResult =
  | { readonly ok: true; readonly report: ContainmentReport }
  | { readonly ok: false; readonly code?: ErrorCode; readonly cause: string; readonly fix: string; readonly detail: string };

/**
 * Runs the production flags on a scratch Workspace and tries, inside, what must not work. What comes back are facts of this
 * machine at this moment; nothing is inferred from versions or settings.
 */
export async function probeMode(config: ExecutionConfig, mode: ProbeMode): Promise<ModeResult> {
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
    const planner = createPlanner({ ...config, host_env: { ...config.host_env, WRIT_PROBE_CANARY: canary } });
    const plan = await planner(scratchSpec(workspace, config, DEADLINE_MS), true);
    const script = probeScript({ canary, port, abstract, hidden: bait, scratch: workspace, namespaces: ownNamespaces() });
    const result = await containedBash(plan, script, AbortSignal.timeout(DEADLINE_MS));
    return judge(plan, parseFacts(result.stdout), result.stderr);
  } catch (thrown) {
    const error = toAppError(thrown);
    const timedOut = thrown instanceof Error && thrown.name === 'AbortError';
    return {
      ok: false,
      cause: timedOut ? `The probe did not end within ${DEADLINE_MS / 1000} seconds.` : error.message,
      fix: error.fix ?? 'Run `writ doctor` again; if it stays, the detail says what failed.',
      detail: error.code,
    };
  } finally {
    for (const server of listeners) server.close();
    scratch?.remove();
  }
}

function judge(plan: SandboxPlan, facts: Facts, stderr: string): ModeResult {
  if (facts['finished'] === undefined) {
    const detail = stderr.trim().slice(0, MAX_DETAIL) || 'bubblewrap ended without a word';
    return { ok: false, ...adviceFor(stderr, kernelSettings()), detail };
  }
  const wrong = failures(facts, ownNamespaces(), plan.seccomp.byteLength > 0);
  if (wrong.length > 0) {
    return {
      ok: false,
      cause: `bubblewrap runs here but does not contain: ${wrong.join('; ')}.`,
      fix: 'Do not run commands on this machine until that is understood; please report it with the detail.',
      detail: JSON.stringify(facts).slice(0, MAX_DETAIL),
    };
  }
  const unknown = facts['nested_userns'] === 'unknown' ? ['nested user namespaces were not tried: /usr/bin/unshare is missing'] : [];
  return { ok: true, report: { backend: 'bubblewrap', dimensions: fullReport(plan.dimensions), notes: [...plan.notes, ...unknown] } };
}
