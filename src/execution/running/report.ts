import type { SandboxPlan } from '../core-types.ts';
import { type ContainmentReport, DIMENSIONS, type Dimension, type DimensionReport } from '../types.ts';

/** What this half enforces whatever the plan is. Limits depend on the machine and are added per run. */
const ALWAYS: Readonly<Partial<Record<Dimension, DimensionReport>>> = {
  start_gate: { state: 'enforced', by: 'token launcher inside the sandbox' },
  teardown: { state: 'enforced', by: 'PID namespace, its init seen gone by PID and start time' },
  wall_clock: { state: 'enforced', by: 'one deadline from the start, not moved by output' },
  disk: {
    state: 'best_effort',
    by: 'private HOME and TMPDIR measured while the run goes on, spool quota',
    reason: 'measured at intervals, so that a fast writer can exceed it for a moment; workspaces are not counted',
  },
};

/** Plan and running together; a dimension that nobody answers for is not enforced, and says so. */
export function containmentReport(
  plan: Pick<SandboxPlan, 'dimensions' | 'notes' | 'container'>,
  limits: Readonly<Partial<Record<Dimension, DimensionReport>>>,
): ContainmentReport {
  const known = { ...plan.dimensions, ...ALWAYS, ...limits };
  const missing: DimensionReport = { state: 'not_enforced', reason: 'nothing in the plan of this run enforces it' };
  const dimensions = {} as Record<Dimension, DimensionReport>;
  for (const dimension of DIMENSIONS) dimensions[dimension] = known[dimension] ?? missing;
  return { backend: plan.container ? 'container' : 'bubblewrap', dimensions, notes: plan.notes };
}
