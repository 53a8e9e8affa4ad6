import type { ExecutionConfig, ProbeMode, SandboxPlan } from '../../core-types.ts';
import { fullReport } from '../dimensions.ts';
import { adviceFor, kernelSettings } from './advice.ts';
import { type Facts, failures, parseFacts } from './checks.ts';
import { containedBash } from './contained-bash.ts';
import { amongBaits, type ModeResult, ownNamespaces } from './surroundings.ts';

const DEADLINE_MS = 10_000;
const MAX_DETAIL = 2000;

/**
 * Runs the production flags on a scratch Workspace and tries, inside, what must not work. What comes back are facts of this
 * machine at this moment; nothing is inferred from versions or settings.
 */
export function probeMode(config: ExecutionConfig, mode: ProbeMode): Promise<ModeResult> {
  return amongBaits(config, mode, { deadline_ms: DEADLINE_MS, namespaces: ownNamespaces() }, async (plan, script) => {
    const result = await containedBash(plan, script, AbortSignal.timeout(DEADLINE_MS));
    return judge(plan, parseFacts(result.stdout), result.stderr);
  });
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
