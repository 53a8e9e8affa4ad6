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
