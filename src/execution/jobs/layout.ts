import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isId } from '../../kernel/ids.ts';

/**
 * Where executions live in the Writ home. The folder of an execution is its only record; there is no index.
 *
 *   runs/<exec id>        a foreground run that is going on, or whose end the audit has not confirmed yet
 *   runs/ended/<exec id>  one that is confirmed; kept for a while so that its output can be read on
 *   jobs/<job id>         a job, or a run that became one
 */
export interface Layout {
  readonly runs: string;
  readonly ended: string;
  readonly jobs: string;
  readonly logs: string;
  /** Folders that will be one of a run. */
  readonly spares: string;
}

export type ExecutionKind = 'run' | 'job';

export function layoutOf(home: string): Layout {
  return {
    runs: join(home, 'runs'),
    ended: join(home, 'runs', 'ended'),
    jobs: join(home, 'jobs'),
    logs: join(home, 'logs'),
    spares: join(home, 'spares'),
  };
}

export function makeLayout(layout: Layout): void {
  for (const folder of [layout.runs, layout.ended, layout.jobs, layout.logs, layout.spares])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** The folder of a going run or a job; undefined for anything that is not an id, so that no name can walk out of the home. */
export function folderOf(layout: Layout, kind: ExecutionKind, id: string): string | undefined {
  if (kind === 'run') return isId('exec', id) ? join(layout.runs, id) : undefined;
  return isId('job', id) ? join(layout.jobs, id) : undefined;
}

/** Names of folders that are being made or taken away: never read as an execution. */
export const BIRTH_PREFIX = '.new-';
export const REMOVAL_PREFIX = '.gone-';
