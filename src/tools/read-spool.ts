import type { Execution, Owner, SpoolPage } from '../execution/types.ts';
import { isId } from '../kernel/ids.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { belongsTo } from './job-shapes.ts';
import { ANSWER_LINES, linesIn } from './output-text.ts';

/** A page of what a foreground command or a job wrote; undefined when there is none or it is somebody else's. */
export async function readSpool(
  execution: Execution,
  request: { readonly id: string; readonly cursor: number; readonly max_bytes: number; readonly owner: Owner },
  signal: AbortSignal,
): Promise<SpoolPage | undefined> {
  const { id, cursor, max_bytes } = request;
  const caller = { owner: request.owner };
  if (isId('job', id)) {
    const job = await execution.jobs.get(id);
    return job && belongsTo(job.owner, caller) ? execution.jobs.output(id, { cursor, max_bytes, wait_ms: 0 }, signal) : undefined;
  }
  const owner = await execution.ownerOf(id);
  return owner && belongsTo(owner, caller) ? execution.output(id, { cursor, max_bytes }) : undefined;
}

/** The Run that made it. */
export async function runOf(execution: Execution, id: string): Promise<{ readonly of_run?: string }> {
  const owner = isId('job', id) ? (await execution.jobs.get(id))?.owner : await execution.ownerOf(id);
  return owner === undefined ? {} : { of_run: owner.run };
}

/** The page, or one that starts at the same place and is short enough to be shown whole. */
export async function fitPage(
  page: SpoolPage | undefined,
  read: (max_bytes: number) => Promise<SpoolPage | undefined>,
): Promise<SpoolPage | undefined> {
  let fitting = page;
  while (fitting !== undefined) {
    const lines = fitting.chunks.reduce((sum, chunk) => sum + linesIn(chunk.text), 0);
    const bytes = fitting.next_cursor - fitting.cursor;
    if (lines <= ANSWER_LINES || bytes <= ANSWER_LINES) return fitting;
    // Fewer each time, and never fewer than one byte a line.
    fitting = await read(Math.max(ANSWER_LINES, Math.floor((bytes * ANSWER_LINES * 0.95) / lines)));
  }
  return undefined;
}

/** Bytes looked at around a page: more than any one-line secret, and most of a private key. */
const BEFORE = 8192;
const AFTER = 2048;

/** The text of a page without its secrets. A secret that goes across an edge of the page is seen whole with what stands beside it. */
export async function maskedText(
  page: SpoolPage,
  read: (cursor: number, max_bytes: number) => Promise<SpoolPage | undefined>,
  redactor: Redactor,
): Promise<string> {
  const from = Math.max(0, page.cursor - BEFORE);
  const before = page.cursor === 0 ? undefined : await read(from, page.cursor - from);
  const after = page.end ? undefined : await read(page.next_cursor, AFTER);
  return redactor.part(before?.next_cursor === page.cursor ? textOf(before) : '', textOf(page), after ? textOf(after) : '');
}

function textOf(page: SpoolPage): string {
  return page.chunks.map((chunk) => chunk.text).join('');
}
