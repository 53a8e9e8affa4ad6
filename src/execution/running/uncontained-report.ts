import { type ContainmentReport, DIMENSIONS, type Dimension, type DimensionReport } from '../types.ts';

const REASON = 'this command was allowed to run without containment';

/** What holds all the same is named; everything else is not enforced, and says why. */
export function uncontainedReport(
  notes: readonly string[],
  limits: Readonly<Partial<Record<Dimension, DimensionReport>>>,
): ContainmentReport {
  const held: Readonly<Partial<Record<Dimension, DimensionReport>>> = {
    start_gate: { state: 'enforced', by: 'launcher that waits for a token' },
    wall_clock: { state: 'enforced', by: 'one deadline from the start, not moved by output' },
    env: { state: 'enforced', by: 'environment built from an allow-list' },
    teardown:
      Object.keys(limits).length > 0
        ? { state: 'best_effort', by: 'control group', reason: `${REASON}; what has privileges can leave the group` }
        : { state: 'best_effort', by: 'session and marker', reason: `${REASON}; a process can leave its session` },
    ...limits,
  };
  const dimensions = {} as Record<Dimension, DimensionReport>;
  for (const dimension of DIMENSIONS) dimensions[dimension] = held[dimension] ?? { state: 'not_enforced', reason: REASON };
  return { backend: 'none', dimensions, notes };
}
