import { type Dirent, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { errnoOf } from '../../kernel/errors.ts';
import { type ExecId, isId, type JobId } from '../../kernel/ids.ts';
import { look } from '../containment/look.ts';
import { isEnded } from './folder.ts';
import type { Layout } from './layout.ts';
import { setMark } from './marks.ts';
import { FILES } from './records.ts';
import { removeFolder } from './removal.ts';

/** Foreground runs whose end is recorded, kept so that the omitted middle of their output can be read; the oldest go first. */
export const KEEP_ENDED = { most: 200, ms: 24 * 3_600_000, bytes: 1024 * 1024 * 1024 } as const;

/** Folders are weighed again after so many. */
const TRIM_EVERY = 25;
/** Those too many go when nothing has ended for this long: removing costs time, and on some file systems whoever makes files next (carriers.ts). */
const QUIET_MS = 10_000;
/** Or when there are more than this, all at once. */
const FAR_TOO_MANY = 2 * KEEP_ENDED.most;

/** How the audit says that it has the end of a run, or of a job: from then on the folder is kept only to be read. */
export function createConfirm(layout: Layout, clock: Clock): (ids: readonly (ExecId | JobId)[]) => void {
  let confirmed = 0;
  const known = new Map<string, Weight>();
  let quiet: NodeJS.Timeout | undefined;
  const trim = (slack?: number): void => trimEnded(layout, clock.now(), known, slack);
  const trimQuietly = (): void => {
    try {
      trim();
    } catch (thrown) {
      // Nobody waits for it here; whoever confirms the next ones hears what is wrong.
      if (errnoOf(thrown) === undefined) throw thrown;
    }
  };
  return (ids) => {
    for (const id of ids) {
      if (isId('job', id)) {
        setMark(join(layout.jobs, id), FILES.reported, clock.now());
        continue;
      }
      // A caller that gave up on one that goes on has not recorded its end: that will be an orphan's.
      if (!isEnded(join(layout.runs, id)) || !moveToEnded(layout, id)) continue;
      confirmed += 1;
      if (confirmed % TRIM_EVERY === 0) trim(FAR_TOO_MANY);
      if (quiet === undefined) quiet = setTimeout(trimQuietly, QUIET_MS).unref();
      else quiet.refresh();
    }
  };
}

/** False when somebody else has moved it. A rename needs no space, so everything else is a fault. */
function moveToEnded(layout: Layout, exec_id: ExecId): boolean {
  try {
    renameSync(join(layout.runs, exec_id), join(layout.ended, exec_id));
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    return false;
  }
}

/** The folder of a run that is going on or ended; a run that became a job is found by the job's id only. */
export function findRun(layout: Layout, exec_id: string): string | undefined {
  if (!isId('exec', exec_id)) return undefined;
  return [join(layout.ended, exec_id), join(layout.runs, exec_id)].find(isFolder);
}

/** What is in a folder here never changes any more, so that one look at it is enough. */
interface Weight {
  readonly changed: number;
  readonly bytes: number;
}

/**
 * `known`: what was weighed before, for somebody who does this often; it holds no more than there are folders afterwards. Up to `slack`
 * none goes for their number alone.
 */
export function trimEnded(layout: Layout, now: number, known: Map<string, Weight> = new Map(), slack = 0): void {
  // Newest first: ids sort by time.
  const names = readdirSync(layout.ended)
    .filter((name) => isId('exec', name))
    .sort()
    .toReversed();
  const weigh = (name: string): Weight => {
    const folder = join(layout.ended, name);
    return { changed: look(folder)?.mtimeMs ?? now, bytes: sizeOf(folder) };
  };
  const before = new Map(known);
  known.clear();
  let bytes = 0;
  const most = names.length > slack ? KEEP_ENDED.most : slack;
  for (const [index, name] of names.entries()) {
    const weight = before.get(name) ?? weigh(name);
    bytes += weight.bytes;
    if (index >= most || now - weight.changed >= KEEP_ENDED.ms || bytes > KEEP_ENDED.bytes) removeFolder(layout.ended, name);
    else known.set(name, weight);
  }
}

/** Bytes of all files below a folder. What disappears while it is counted, or can't be looked into, counts as nothing. */
export function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? sizeOf(path) : (look(path)?.size ?? 0);
  }
  return bytes;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    if (['ENOENT', 'EACCES'].includes(errnoOf(thrown) ?? '')) return [];
    throw thrown;
  }
}

function isFolder(path: string): boolean {
  return look(path)?.isDirectory() ?? false;
}
