import { readFileSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import type { ProcessIdentity, TeardownReport } from '../types.ts';
import { identify, judge, signalOwned } from './identity.ts';
import { isDead, listPids, readStat } from './proc.ts';
import { markerOf } from './sweep.ts';

/** What belongs to a run that has no namespace of its own. */
export interface LooseTree {
  /** First process and leader of a session. */
  readonly launcher: ProcessIdentity;
  /** In the environment of everything that hasn't thrown it away. */
  readonly marker: string;
  /** Folders of its control groups; what is forked stays in them. None where they can't be written. */
  readonly cgroups: readonly string[];
}

const PROOF_BUDGET_MS = 5_000;

/**
 * Its living processes: those in its control group, and whoever still has its session or its marker. Undefined: it can't be known.
 * Only the group can't be left by an ordinary process.
 */
export function looseMembers(tree: LooseTree): readonly ProcessIdentity[] | undefined {
  const pids = listPids();
  if (pids === undefined) return undefined;
  const inGroup = new Set(tree.cgroups.flatMap(membersOfGroup));
  return pids
    .filter((pid) => pid > 1 && pid !== process.pid)
    .filter((pid) => inGroup.has(pid) || sessionOf(pid) === tree.launcher.pid || markerOf(pid) === tree.marker)
    .flatMap((pid) => {
      const stat = readStat(pid);
      if (typeof stat === 'object' && isDead(stat.state)) return [];
      return identify(pid) ?? [];
    });
}

export function terminateLoose(tree: LooseTree): void {
  for (const member of looseMembers(tree) ?? []) signalOwned(member, 'SIGTERM');
}

export function killLoose(tree: LooseTree): void {
  for (const member of looseMembers(tree) ?? []) signalOwned(member, 'SIGKILL');
}

/**
 * Ends it, as far as it can be found. Proved only where a control group is seen empty: without one a process that has left the session and
 * cleared its environment is nobody's, and that there is none can't be said.
 */
export async function endLoose(tree: LooseTree, monotonic: () => number): Promise<TeardownReport> {
  const started = monotonic();
  const ms = (): number => Math.round((monotonic() - started) * 10) / 10;
  let left = looseMembers(tree);
  while (left !== undefined && left.length > 0 && ms() < PROOF_BUDGET_MS) {
    for (const member of left) signalOwned(member, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 5));
    left = looseMembers(tree);
  }
  const survivors = (left ?? []).filter((member) => judge(member) !== 'GONE').map(({ pid }) => pid);
  if (left === undefined) return { verified: false, method: 'none', survivors, ms: ms() };
  const proved = tree.cgroups.length > 0 && survivors.length === 0;
  return { verified: proved, method: proved ? 'cgroup_empty' : 'scan', survivors, ms: ms() };
}

function membersOfGroup(folder: string): readonly number[] {
  try {
    return readFileSync(`${folder}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch (error) {
    // The group is gone: nothing is in it.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENODEV') return [];
    throw error;
  }
}

/** Field 6 of /proc/PID/stat. The number isn't given to anybody else while the session has a member. */
function sessionOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return undefined;
  }
}
