import { readFileSync } from 'node:fs';
import { identify, judge, signalOwned } from './identity.ts';
import { MARKER_VARIABLE } from './launcher.ts';
import { listPids } from './proc.ts';

const PROOF_BUDGET_MS = 5_000;

export interface Sweep {
  /** Processes that carried one of the markers. */
  readonly found: number;
  /** Of those, the ones that could not be seen gone. */
  readonly survivors: readonly number[];
}

/**
 * Ends what carries one of these run markers in the environment it was started with: bubblewrap, the init of its namespace (whose death
 * takes everything inside along) and the launcher. This finds a sandbox whose supervisor died before it could write its identity down.
 * Markers have to be recorded by the caller: nothing else is touched, whatever its environment says.
 */
export async function sweepMarked(markers: ReadonlySet<string>): Promise<Sweep> {
  if (markers.size === 0) return { found: 0, survivors: [] };
  const marked = (listPids() ?? [])
    .filter((pid) => pid !== process.pid && pid > 1)
    .filter((pid) => {
      const marker = markerOf(pid);
      return marker !== undefined && markers.has(marker);
    })
    .map((pid) => identify(pid))
    .filter((identity) => identity !== undefined);
  const deadline = performance.now() + PROOF_BUDGET_MS;
  let alive = marked;
  while (alive.length > 0) {
    for (const identity of alive) signalOwned(identity, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 5));
    alive = alive.filter((identity) => judge(identity) === 'OWNED' || judge(identity) === 'UNVERIFIABLE');
    if (performance.now() > deadline) break;
  }
  return { found: marked.length, survivors: alive.map(({ pid }) => pid) };
}

export function markerOf(pid: number): string | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Gone, a kernel thread, or somebody else's.
    return undefined;
  }
  const prefix = `${MARKER_VARIABLE}=`;
  return environment
    .split('\0')
    .find((entry) => entry.startsWith(prefix))
    ?.slice(prefix.length);
}
