import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { type ExecId, isId, type JobId } from '../../kernel/ids.ts';
import { isEnded, look } from './folder.ts';
import { BIRTH_PREFIX, type ExecutionKind } from './layout.ts';

/** How many may go on at once in one Writ home, over all processes. One more is refused with `busy`: nothing queues. */
export const BOUNDS: Readonly<Record<ExecutionKind, { readonly most: number; readonly what: string }>> = {
  run: { most: 16, what: 'commands' },
  job: { most: 32, what: 'jobs' },
};

/** A folder being made that is older than this was left by a process that died making it. */
const BIRTH_MS = 60_000;

/**
 * Refuses when more than the bound are going on. The caller's own folder must exist under its birth name and is counted, so
 * that two processes that come at the same moment can't both take the last place.
 */
export function admit(kind: ExecutionKind, parent: string): void {
  const { most, what } = BOUNDS[kind];
  if (countOpen(kind, parent, isEnded) <= most) return;
  // Slower, and exact: what can't be read takes no place.
  if (countOpen(kind, parent, (folder) => look(folder).type !== 'open') <= most) return;
  throw new AppError('busy', `${most} ${what} are already running in this Writ home, and more are not started at once.`, {
    fix: kind === 'job' ? 'Cancel a job that is no longer needed (job_list, job_cancel).' : 'Wait for running commands to end.',
  });
}

function countOpen(kind: ExecutionKind, parent: string, isOver: (folder: string) => boolean): number {
  let open = 0;
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    if (entry.name.startsWith(BIRTH_PREFIX) || (isIdOf(kind, entry.name) && !isOver(join(parent, entry.name)))) open += 1;
  }
  return open;
}

/** Ids of the folders of one kind, oldest first. */
export function idsIn(kind: 'run', parent: string): readonly ExecId[];
export function idsIn(kind: 'job', parent: string): readonly JobId[];
export function idsIn(kind: ExecutionKind, parent: string): readonly string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isIdOf(kind, entry.name))
    .map((entry) => entry.name)
    .sort();
}

/** Removes what was left half made or half removed. */
export function removeDebris(parent: string, now: number): void {
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    const path = join(parent, entry.name);
    if (!entry.isDirectory() || !entry.name.startsWith('.')) continue;
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (made !== undefined && now - made > BIRTH_MS) rmSync(path, { recursive: true, force: true });
  }
}

function isIdOf(kind: ExecutionKind, name: string): boolean {
  return isId(kind === 'run' ? 'exec' : 'job', name);
}
