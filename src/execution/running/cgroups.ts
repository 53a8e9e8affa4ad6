import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Dimension, DimensionReport, Limits, ProcessIdentity } from '../types.ts';
import { candidates, detectHierarchies, type Hierarchy } from './cgroup-detect.ts';
import { CONTROLS, type Controller, countIn, isController, readsBack } from './cgroup-table.ts';
import { judge } from './identity.ts';

/** The group of one sandbox, in every hierarchy that has one of our controllers. */
export interface RunGroup {
  readonly paths: readonly string[];
  readonly dimensions: Readonly<Partial<Record<Dimension, DimensionReport>>>;
  /** Spawns with everything inside from its birth, where the hierarchy allows that. */
  spawnInside<T>(spawn: () => T): T;
  /** `spawnInside` couldn't put everything in (version 2 moves whole processes only). */
  readonly needsAdoption: boolean;
  /** Moves what is still outside; to be called while nobody forks. */
  adopt(pids: readonly number[]): void;
  /** Names of limits that were hit. */
  hits(): readonly string[];
  /** Version 2 ends a whole group at once; false where there is no such thing. */
  kill(): boolean;
  /** The sandbox is dead: the group goes, or waits for the next one with the same limits. */
  release(): void;
}

/** A group is busy for a moment after the last one in it died; it is tried again this often, this far apart. */
const REMOVE_ATTEMPTS = 40;
const REMOVE_PAUSE_MS = 25;

export interface Cgroups {
  /** undefined: there is no hierarchy that we may make groups in. */
  group(limits: Limits): RunGroup | undefined;
  close(): Promise<void>;
}

/** A hierarchy with a folder of ours in it. */
interface Base {
  readonly hierarchy: Hierarchy;
  readonly folder: string;
  readonly controllers: readonly Controller[];
}

/** Groups kept for reuse: making and removing one costs more than using it. */
const MAX_SPARE = 4;
const PREFIX = 'writ-';

/**
 * Control groups where they can be written, whatever their version and without asking a system manager. Nothing is inferred from what is
 * mounted: a controller counts when a group could be made, its limit written and read back.
 */
export function createCgroups(supervisor: ProcessIdentity, logger: Logger): Cgroups {
  let bases: readonly Base[] | undefined;
  let serial = 0;
  const spare = new Map<string, Group[]>();
  /** Folders that are to go. */
  const doomed = new Set<string>();

  const removeDoomed = (): void => {
    for (const folder of doomed) if (removeIfThere(folder)) doomed.delete(folder);
  };
  const remove = (group: Group): void => {
    for (const folder of group.paths) doomed.add(folder);
    removeDoomed();
  };

  const name = `${PREFIX}${supervisor.pid}-${supervisor.start}-${randomBytes(3).toString('hex')}`;

  const find = (limits: Limits): readonly Base[] => {
    let hierarchies: Hierarchy[];
    try {
      hierarchies = detectHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
    } catch (error) {
      logger.warn('control groups can not be looked up', { error: String(error) });
      return [];
    }
    const found: Base[] = [];
    const taken = new Set<string>();
    for (const hierarchy of hierarchies) {
      const base = firstUsable(hierarchy, name, limits, taken, supervisor.boot_id);
      if (base === undefined) continue;
      for (const controller of base.controllers) taken.add(controller);
      found.push(base);
    }
    return found;
  };

  return {
    group(limits) {
      bases ??= find(limits);
      if (bases.length === 0) return undefined;
      const key = JSON.stringify(limits);
      const group = spare.get(key)?.pop() ?? makeGroup(bases, String(serial++), limits, logger);
      if (group === undefined) return undefined;
      let hits: readonly string[] | undefined;
      return {
        ...group,
        hits() {
          hits = group.hits();
          return hits;
        },
        release() {
          const waiting = [...spare.values()].reduce((count, groups) => count + groups.length, 0);
          if (waiting >= MAX_SPARE || (hits ?? group.hits()).length > 0) remove(group);
          else spare.set(key, [...(spare.get(key) ?? []), group]);
        },
      };
    },
    async close() {
      for (const groups of spare.values()) for (const group of groups) remove(group);
      spare.clear();
      for (const base of bases ?? []) doomed.add(base.folder);
      bases = undefined;
      for (let attempt = 0; attempt < REMOVE_ATTEMPTS; attempt++) {
        removeDoomed();
        if (doomed.size === 0) return;
        await new Promise((resolve) => setTimeout(resolve, REMOVE_PAUSE_MS));
      }
      logger.warn('control groups could not be removed', { folders: [...doomed] });
    },
  };
}

type Group = Omit<RunGroup, 'release'>;

function makeGroup(bases: readonly Base[], name: string, limits: Limits, logger: Logger): Group | undefined {
  const made: { base: Base; folder: string }[] = [];
  try {
    for (const base of bases) {
      const folder = `${base.folder}/${name}`;
      mkdirSync(folder, { recursive: true });
      made.push({ base, folder });
      for (const controller of base.controllers) setLimits(base.hierarchy.version, controller, folder, limits);
    }
  } catch (error) {
    logger.warn('a control group could not be made', { error: String(error) });
    for (const { folder } of made) removeIfThere(folder);
    return undefined;
  }
  const dimensions: Partial<Record<Dimension, DimensionReport>> = {};
  for (const { hierarchy, controllers } of bases) {
    for (const controller of controllers) {
      dimensions[CONTROLS[hierarchy.version][controller].dimension] = { state: 'enforced', by: `cgroup v${hierarchy.version}` };
    }
  }
  return {
    paths: made.map(({ folder }) => folder),
    dimensions,
    needsAdoption: made.some(({ base }) => base.hierarchy.version === 2),
    spawnInside(spawn) {
      // Version 1 knows groups of single threads. A child is born where the thread is that forks it; moving ourselves there and back
      // costs a tenth of a millisecond, moving another process ten of them (the kernel waits for all processors).
      const entered: Base[] = [];
      try {
        for (const { base, folder } of made) {
          if (base.hierarchy.version !== 1) continue;
          writeFileSync(`${folder}/tasks`, '0');
          entered.push(base);
        }
        return spawn();
      } finally {
        for (const base of entered) goBack(base, logger);
      }
    },
    adopt(pids) {
      for (const { base, folder } of made) {
        if (base.hierarchy.version === 1) continue;
        for (const pid of pids) writeFileSync(`${folder}/cgroup.procs`, String(pid));
      }
    },
    hits() {
      const hit: string[] = [];
      for (const { base, folder } of made) {
        for (const controller of base.controllers) {
          const { hits, dimension } = CONTROLS[base.hierarchy.version][controller];
          if (hits !== undefined && countIn(readIfThere(`${folder}/${hits.file}`), hits.key) > 0) hit.push(dimension);
        }
      }
      return hit;
    },
    kill() {
      const groups = made.filter(({ base }) => base.hierarchy.version === 2);
      for (const { folder } of groups) quietly(() => writeFileSync(`${folder}/cgroup.kill`, '1'), logger);
      return groups.length > 0;
    },
  };
}

/** Back to where this thread came from. If that is gone, to our own folder's parent: anywhere but in a group that will be limited to a run. */
function goBack({ hierarchy, folder }: Base, logger: Logger): void {
  for (const home of [hierarchy.own, folder.slice(0, folder.lastIndexOf('/'))]) {
    try {
      writeFileSync(`${home}/tasks`, '0');
      return;
    } catch (error) {
      logger.error('this process could not leave the control group of a run', { home, error: String(error) });
    }
  }
}

function firstUsable(hierarchy: Hierarchy, name: string, limits: Limits, taken: ReadonlySet<string>, boot_id: string): Base | undefined {
  for (const parent of candidates(hierarchy)) {
    const folder = `${parent}/${name}`;
    const wanted = hierarchy.controllers.filter(isController).filter((controller) => !taken.has(controller));
    if (wanted.length === 0) return undefined;
    try {
      sweepStale(parent, boot_id);
      if (hierarchy.version === 2) enable(parent, wanted);
      mkdirSync(folder, { recursive: true });
    } catch {
      // Not ours to write, or (version 2) processes of others stand in it: the next one up may do.
      continue;
    }
    if (hierarchy.version === 2) enable(folder, wanted);
    const controllers = wanted.filter((controller) => tryOut(hierarchy.version, controller, folder, limits));
    if (controllers.length > 0) return { hierarchy, folder, controllers };
    removeIfThere(folder);
  }
  return undefined;
}

/** Makes a group, sets the limit, reads it back, and removes the group. */
function tryOut(version: 1 | 2, controller: Controller, folder: string, limits: Limits): boolean {
  const trial = `${folder}/trial`;
  try {
    mkdirSync(trial, { recursive: true });
    setLimits(version, controller, trial, limits);
    return CONTROLS[version][controller]
      .settings(limits)
      .every(({ file, value, optional }) => optional === true || readsBack(value, readFileSync(`${trial}/${file}`, 'utf8').trim()));
  } catch {
    return false;
  } finally {
    removeIfThere(trial);
  }
}

function setLimits(version: 1 | 2, controller: Controller, folder: string, limits: Limits): void {
  for (const { file, value, optional } of CONTROLS[version][controller].settings(limits)) {
    try {
      // Existing files only: in a folder that isn't a cgroup after all nothing is created.
      writeFileSync(`${folder}/${file}`, value, { flag: 'r+' });
    } catch (error) {
      if (optional !== true) throw error;
    }
  }
}

/** Version 2: children of `folder` get these controllers, as far as it has them. */
function enable(folder: string, wanted: readonly Controller[]): void {
  const has = readFileSync(`${folder}/cgroup.controllers`, 'utf8').trim().split(' ');
  const enabled = readFileSync(`${folder}/cgroup.subtree_control`, 'utf8').trim().split(' ');
  const missing = wanted.filter((controller) => has.includes(controller) && !enabled.includes(controller));
  if (missing.length === 0) return;
  writeFileSync(`${folder}/cgroup.subtree_control`, missing.map((controller) => `+${controller}`).join(' '));
}

/** Groups of supervisors that are gone and of which nothing lives any more. */
function sweepStale(parent: string, boot_id: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid, start] = /^writ-(\d+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
    if (pid === undefined || start === undefined) continue;
    const verdict = judge({ boot_id, pid: Number(pid), start });
    if (verdict !== 'GONE' && verdict !== 'FOREIGN') continue;
    for (const child of readdirSync(`${parent}/${name}`, { withFileTypes: true })) {
      if (child.isDirectory()) removeIfThere(`${parent}/${name}/${child.name}`);
    }
    removeIfThere(`${parent}/${name}`);
  }
}

/** True when it is gone. A group that still has somebody in it stays; the next start of Writ finds it again. */
function removeIfThere(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function quietly(action: () => void, logger: Logger): void {
  try {
    action();
  } catch (error) {
    logger.debug('a control group could not be cleaned up', { error: String(error) });
  }
}
