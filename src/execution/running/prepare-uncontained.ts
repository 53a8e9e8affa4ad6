import { type ContainmentReport, DIMENSIONS, type Dimension, type DimensionReport } from '../types.ts';
import { closeEnds, type NotPrepared, openStreams, type Prepared, type PrepareInput, type PrepareParts } from './prepare.ts';
import { awaitAtGate, spawnUncontained } from './sandbox.ts';

/** As `prepare`, with nothing around the launcher but a control group where there can be one, by which its tree is found again. */
export async function prepareUncontained(request: PrepareInput, parts: PrepareParts): Promise<Prepared | NotPrepared> {
  const { plan, marker } = request;
  const opened = await openStreams(request, parts);
  const group = parts.cgroups.group(plan.limits);
  const spawn = (): ReturnType<typeof spawnUncontained> => spawnUncontained({ plan, marker, streams: opened.theirs });
  try {
    const sandbox = group === undefined ? spawn() : group.spawnInside(spawn);
    const built = await awaitAtGate(sandbox);
    if (typeof built !== 'string') {
      // It waits, so that it is alone.
      if (group?.needsAdoption === true) group.adopt([built.init.pid]);
      return { plan, sandbox: built, ends: opened.ours, group, inlets: new Map(), limits: group?.dimensions ?? {} };
    }
    sandbox.kill();
    await sandbox.exit;
    closeEnds(opened.ours);
    sandbox.release();
    group?.release();
    return { reason: built, teardown: { verified: true, method: 'scan', survivors: [], ms: 0 } };
  } finally {
    opened.closeTheirs();
  }
}

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
