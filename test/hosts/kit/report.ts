import { isOfWrit, type ScriptedModel } from '../model/scripted-model.ts';
import { type Check, labelled } from './checks.ts';
import type { Host } from './host.ts';
import type { Ended } from './run-program.ts';
import type { WritRecord } from './writ-record.ts';

/** The committed page shows this much; set WRIT_HOSTS_SHOWN for a closer look. */
const SHOWN = Number(process.env['WRIT_HOSTS_SHOWN'] ?? 300);
const LABELS = ['host', 'shell', 'refusal', 'wrong argument', 'long output', 'job', 'job output', 'announcement'];

/** The run of one host as text: the checks, and the beginning of what the model really got. */
export function report(
  host: Host,
  run: { ended: Ended; model: ScriptedModel; record: WritRecord; checks: readonly Check[]; instructed: boolean },
): string {
  const { model, record } = run;
  const names = model.offered.filter((tool) => isOfWrit(tool));
  return [
    `${host.name} ${host.version}`,
    `calls itself: ${[...new Set(record.actions.map(({ client }) => client))].join(' | ')}`,
    `${run.ended.ms} ms, ${model.exchanges.length} calls`,
    `tools as the model knows them: ${names.map((tool) => `${tool.namespace === undefined ? '' : `${tool.namespace} / `}${tool.name}`).join(', ') || 'none until searched for'}`,
    `instructions reach the model: ${run.instructed ? 'yes' : 'no'}`,
    '',
    ...run.checks.map(({ what, problem }) => (problem === undefined ? `ok      ${what}` : `FAILED  ${what}: ${problem}`)),
    '',
    `What the model saw, the first ${SHOWN} characters of each:`,
    ...LABELS.map((label) => seen(model, label)),
  ].join('\n');
}

function seen(model: ScriptedModel, label: string): string {
  const last = labelled(model.exchanges, label).at(-1);
  if (last === undefined) return `\n--- ${label}: nothing`;
  const mark = last.marked === undefined ? '' : last.marked ? ', marked as an error' : ', not marked as an error';
  return `\n--- ${label} (${last.text.length} characters${mark})\n${last.text.slice(0, SHOWN).trimEnd()}`;
}
