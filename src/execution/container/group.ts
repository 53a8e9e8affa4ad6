import { readFileSync } from 'node:fs';
import { detectHierarchies } from '../running/cgroup-detect.ts';
import { CONTROLS, type Controller, countIn, isController, readsBack } from '../running/cgroup-table.ts';
import type { RunGroup } from '../running/cgroups.ts';
import type { Dimension, DimensionReport, Limits } from '../types.ts';

/** The control group that the engine made for a container: what it limits is read back, not believed. */
export function containerGroup(init: number, limits: Limits): RunGroup {
  const hierarchies = readHierarchies(init);
  const dimensions: Partial<Record<Dimension, DimensionReport>> = {};
  const counters: { readonly path: string; readonly key: string; readonly dimension: Dimension }[] = [];
  for (const { version, controllers, own } of hierarchies) {
    for (const controller of controllers.filter(isController)) {
      const { dimension, hits } = CONTROLS[version][controller];
      if (dimensions[dimension]?.state === 'enforced') continue;
      const holds = expected(version, controller, limits).every(({ file, value }) =>
        readsBack(value, readIfThere(`${own}/${file}`).trim()),
      );
      dimensions[dimension] = holds
        ? { state: 'enforced', by: `control group of the container (v${version}), read back` }
        : { state: 'not_enforced', reason: 'the control group of the container does not show this limit' };
      if (holds && hits) counters.push({ path: `${own}/${hits.file}`, key: hits.key, dimension });
    }
  }
  let hit: readonly string[] = [];
  return {
    paths: hierarchies.map(({ own }) => own),
    dimensions,
    spawnInside: (spawn) => spawn(),
    needsAdoption: false,
    adopt: () => undefined,
    hits() {
      // The engine takes the group away soon after the end; what was seen once stays seen.
      const now = counters.filter(({ path, key }) => countIn(readIfThere(path), key) > 0).map(({ dimension }) => dimension);
      hit = [...new Set([...hit, ...now])];
      return hit;
    },
    kill: () => false,
    release: () => undefined,
  };
}

function expected(version: 1 | 2, controller: Controller, limits: Limits): readonly { readonly file: string; readonly value: string }[] {
  // The engine's number counts everybody in the group.
  if (controller === 'pids') return [{ file: 'pids.max', value: String(limits.pids) }];
  return CONTROLS[version][controller].settings(limits).filter(({ optional }) => optional !== true);
}

function readHierarchies(init: number): ReturnType<typeof detectHierarchies> {
  try {
    return detectHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync(`/proc/${init}/cgroup`, 'utf8'));
  } catch {
    // Gone, or not to be seen: then none of its limits can be vouched for.
    return [];
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
