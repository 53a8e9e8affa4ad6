import type { Outcome, OutputView, RunResult, StreamView } from '../execution/types.ts';

/** Characters of output in one answer; hosts cut blindly at about 100,000, so the rest is read by cursor. */
export const ANSWER_CHARS = 40_000;
const HEAD_SHARE = 0.6;

/** One stream as text, with what was left out counted in place and how to get it. */
export function streamText(view: StreamView, id: string | undefined, max: number = ANSWER_CHARS): string {
  const { head, tail, omitted } = fitStream(view, max);
  if (omitted === 0) return head + tail;
  const how = id === undefined ? '' : `; read on with shell_output {"id": "${id}", "cursor": ${Buffer.byteLength(head)}}`;
  return `${head}\n[... ${omitted} bytes left out here${how} ...]\n${tail}`;
}

/** Head and tail that fit into `max` characters together; what is cut away is added to the omitted bytes. */
function fitStream(view: StreamView, max: number): { readonly head: string; readonly tail: string; readonly omitted: number } {
  if (view.head.length + view.tail.length <= max) return { head: view.head, tail: view.tail, omitted: view.omitted_bytes };
  // Without an omission head and tail are one text that was cut at an arbitrary place.
  const [headSource, tailSource] = view.omitted_bytes === 0 ? [view.head + view.tail, view.head + view.tail] : [view.head, view.tail];
  const head = cutEnd(headSource, Math.floor(max * HEAD_SHARE));
  const tail = cutStart(tailSource, max - head.length);
  return { head, tail, omitted: view.total_bytes - Buffer.byteLength(head) - Buffer.byteLength(tail) };
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
