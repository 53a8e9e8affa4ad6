import type { Dimension, Execution } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import type { Decision } from '../policy/types.ts';

/** What a `contained` verdict stands on (DESIGN section 5). */
const NEEDED_FOR_CONTAINED: readonly Dimension[] = ['fs_read', 'fs_write', 'network', 'pid_ns', 'wall_clock'];

/** Every shell run is sandboxed, so a failed probe refuses whatever the verdict; `contained` needs its five dimensions enforced besides. */
export async function requireContainment(execution: Execution, decision: Decision): Promise<void> {
  const probe = await execution.probe();
  if (!probe.ok)
    throw new AppError(probe.code ?? 'containment_unavailable', `Commands can't be contained on this machine: ${probe.cause}`, {
      fix: probe.fix,
    });
  // The operator has said that nothing contains them.
  if (decision.verdict !== 'contained' || probe.report.backend === 'none') return;
  const missing = NEEDED_FOR_CONTAINED.filter((name) => probe.report.dimensions[name].state !== 'enforced');
  if (missing.length === 0) return;
  const why = missing.map((name) => `${name} (${probe.report.dimensions[name].reason ?? 'not enforced'})`);
  throw new AppError(
    'containment_unavailable',
    `This command may run only contained, and these are not enforced here: ${why.join(', ')}.`,
    {
      fix: 'Run `writ doctor` for what each one needs.',
    },
  );
}
