import { afterSight, type ToolFacts } from './judge.ts';
import type { ToolRecord, UpstreamRecord } from './records.ts';

/** Of one upstream. Beyond it new tools are refused and not recorded: dropping old pins would let a server change what they held. */
export const MAX_RECORDED = 2_000;
/** Of the texts that are kept of one upstream's pins, for differences. Beyond it digests alone are kept. */
const MAX_KEPT_CHARS = 4 * 1024 * 1024;

export function byName(upstream: UpstreamRecord | undefined): ReadonlyMap<string, ToolRecord> {
  return new Map((upstream?.tools ?? []).map((tool) => [tool.name, tool]));
}

/** The names of those for which there is no more room. */
export function putSights(
  upstream: UpstreamRecord,
  seen: readonly { readonly name: string; readonly facts: ToolFacts }[],
  at: number,
): ReadonlySet<string> {
  const known = byName(upstream);
  const left = new Set<string>();
  const put: ToolRecord[] = [];
  let count = upstream.tools.length;
  for (const { name, facts } of seen) {
    const there = known.get(name);
    const after = afterSight(there, name, facts, at);
    if (after === undefined) continue;
    if (there === undefined && ++count > MAX_RECORDED) left.add(name);
    else put.push(after);
  }
  putRecords(upstream, put);
  return left;
}

export function putRecords(upstream: UpstreamRecord, records: readonly ToolRecord[]): void {
  const put = new Map(records.map((one) => [one.name, one]));
  const kept = upstream.tools.map((one) => put.get(one.name) ?? one);
  const names = new Set(kept.map(({ name }) => name));
  upstream.tools = [...kept, ...records.filter(({ name }) => !names.has(name))];
  let left = MAX_KEPT_CHARS;
  for (const { pin, waiting } of upstream.tools) {
    for (const field of [...pin.fields, ...(waiting?.pin.fields ?? [])]) {
      left -= field.text?.length ?? 0;
      if (left < 0) delete field.text;
    }
  }
}
