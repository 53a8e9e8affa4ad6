import type { Outcome, OutputView, RunResult, StreamView } from '../execution/types.ts';

/**
 * Characters and lines of output in one answer; the rest is read by cursor. Hosts cut longer ones in their own way and lose what we say about
 * the rest: qwen-code at 25,000 characters, Gemini CLI at 40,000, opencode at 2,000 lines (docs/reference/hosts.md).
 */
export const ANSWER_CHARS = 24_000;
export const ANSWER_LINES = 1_800;
const HEAD_SHARE = 0.6;

/** One stream as text, with what was left out counted in place and how to get it. */
export function streamText(view: StreamView, id: string | undefined, max: number = ANSWER_CHARS): string {
  const { head, tail, omitted } = fitStream(view, max);
  if (omitted === 0) return head + tail;
  const how = id === undefined ? '' : `; read on with ${readOn(id, bytesOf(head))}`;
  return `${head}\n[... ${omitted} bytes left out here${how} ...]\n${tail}`;
}

/** The call that reads the output from there. */
export function readOn(id: string, cursor: number): string {
  return `shell_output {"id": "${id}", "cursor": ${cursor}}`;
}

/** Bytes of the output that became this text, or fewer: a replacement character stands for one byte at least. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text.replaceAll('\ufffd', '?'));
}

export function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Head and tail that fit into one answer together; what is cut away is added to the omitted bytes. */
export function fitStream(
  view: StreamView,
  max: number = ANSWER_CHARS,
): { readonly head: string; readonly tail: string; readonly omitted: number } {
  if (view.head.length + view.tail.length <= max && linesIn(view.head) + linesIn(view.tail) <= ANSWER_LINES)
    return { head: view.head, tail: view.tail, omitted: view.omitted_bytes };
  // Without an omission head and tail are one text that was cut at an arbitrary place.
  const [headSource, tailSource] = view.omitted_bytes === 0 ? [view.head + view.tail, view.head + view.tail] : [view.head, view.tail];
  const head = firstLines(cutEnd(headSource, Math.floor(max * HEAD_SHARE)), Math.floor(ANSWER_LINES * HEAD_SHARE));
  const tail = lastLines(cutStart(tailSource, max - head.length), ANSWER_LINES - linesIn(head));
  return { head, tail, omitted: view.total_bytes - bytesOf(head) - bytesOf(tail) };
}

function firstLines(text: string, lines: number): string {
  let at = 0;
  for (let seen = 0; seen < lines; seen++) {
    const next = text.indexOf('\n', at);
    if (next === -1) return text;
    at = next + 1;
  }
  return text.slice(0, at);
}

function lastLines(text: string, lines: number): string {
  // The line break at the very end ends the last line and begins none.
  let at = text.length - 1;
  for (let seen = 0; seen < lines; seen++) {
    at = at <= 0 ? -1 : text.lastIndexOf('\n', at - 1);
    if (at === -1) return text;
  }
  return text.slice(at + 1);
}

/** Cuts never fall between the halves of a surrogate pair. */
function cutEnd(text: string, length: number): string {
  const kept = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept;
}

function cutStart(text: string, length: number): string {
  const kept = length <= 0 ? '' : text.slice(-length);
  return /^[\udc00-\udfff]/.test(kept) ? kept.slice(1) : kept;
}

/** "exit 1", "timed out after 120 s (exit 124)" ... */
export function outcomeText(outcome: Outcome, timeout_ms: number): string {
  switch (outcome.state) {
    case 'exited':
      return outcome.signal ? `ended by ${outcome.signal} (exit ${outcome.exit_code})` : `exit ${outcome.exit_code}`;
    case 'timed_out':
      return `timed out after ${seconds(timeout_ms)} and was ended (exit 124)`;
    case 'cancelled':
      return `cancelled: ${outcome.reason}`;
    case 'never_started':
      return `never started: ${outcome.reason}`;
    case 'lost':
      return `outcome unknown: ${outcome.reason}`;
  }
}

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms / 1000)} s`;
}

/** What a reader must know beyond the output: only what is out of the ordinary, so that a quiet run stays short. */
export function receiptLines(result: RunResult): readonly string[] {
  const receipt = result.receipt;
  if (!receipt) return [];
  const lines: string[] = [...receipt.hints];
  for (const limit of receipt.limits_hit) lines.push(`the ${limit} limit was hit`);
  for (const moved of receipt.quarantined) lines.push(`${moved.path} appeared without approval and was moved to ${moved.moved_to}`);
  if (!receipt.teardown.verified) {
    const left =
      receipt.teardown.survivors.length > 0
        ? `still alive: ${receipt.teardown.survivors.join(', ')}`
        : 'whether anything is left could not be seen';
    lines.push(`the end of the process tree is NOT verified; ${left}`);
  }
  const lost = lostBytes(result.output);
  if (lost > 0) lines.push(`${lost} bytes of output are counted but were not kept (spool quota)`);
  return lines;
}

function lostBytes(output: OutputView): number {
  return Math.max(0, output.combined.total_bytes - output.spooled_bytes);
}
