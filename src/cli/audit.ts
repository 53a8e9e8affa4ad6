import type { ArchiveSummary, EventPage, RecordedEvent, ShownEvents, VerifyReport } from '../audit/index.ts';
import { visible } from '../kernel/visible.ts';

/** Columns of a list; what doesn't fit is cut with an ellipsis, `writ audit show` has it whole. */
const WIDTHS = { type: 20, tool: 14, agent: 18, facts: 40 } as const;

/** One line per event, newest first, and how to get the older ones. */
export function renderAuditList({ events, next_cursor, archived }: EventPage): string {
  const older =
    archived === undefined
      ? []
      : [
          `${count(archived.rows, 'older event')} up to ${time(archived.newest_at)} left the list for ${count(archived.archives, 'archive')} (audit/archive in the Writ home): zcat shows them, \`writ audit show\` finds them.`,
        ];
  if (events.length === 0) return ['Nothing is recorded that matches.', ...older].join('\n');
  const lines = events.map((event) =>
    [
      time(event.at),
      column(event.type, WIDTHS.type),
      column(event.tool ?? '-', WIDTHS.tool),
      column(event.agent ?? '-', WIDTHS.agent),
      column(facts(event), WIDTHS.facts),
      event.action === undefined ? reference(event) : visible(event.action),
    ].join('  '),
  );
  if (next_cursor !== undefined) lines.push(`There are older ones: add --cursor ${next_cursor}`);
  return [...lines, ...older].join('\n');
}

export function renderArchived({ rows, files, refused }: ArchiveSummary): string {
  const lines = files.map((file) => `  audit/archive/${file}`);
  lines.unshift(rows === 0 ? 'Nothing is old enough or too much: no event left the database.' : `${count(rows, 'event')} moved into:`);
  if (refused.length > 0)
    lines.push(`${count(refused.length, 'chain')} stayed, because the rows are not what was recorded: run \`writ audit verify\`.`);
  return lines.join('\n');
}

/** One event, or all of an action, whole. */
export function renderAuditRecord({ events, unread }: ShownEvents): string {
  const more =
    unread.length === 0
      ? []
      : [`There may be more in ${count(unread.length, 'archive')} that can't be read: ${unread.slice(0, 5).join(', ')}.`];
  return [...events.map(renderOne), ...more].join('\n\n');
}

function renderOne(event: RecordedEvent): string {
  const { ref: _ref, hash, type, at, data, ...who } = event;
  const lines = [`${visible(type)}  ${time(at)}`, field('reference', reference(event)), field('hash', hash)];
  for (const [name, value] of Object.entries(who)) lines.push(field(name, visible(String(value))));
  lines.push('  data:');
  for (const line of JSON.stringify(data, null, 2).split('\n')) lines.push(`    ${visible(line)}`);
  return lines.join('\n');
}

/** The result first, then what is wrong (the first bad row on top), then what the check can't show. */
export function renderVerify(report: VerifyReport): string {
  const { ok, rows, chains, checkpoints, sealed, unsealed, archives, key, findings, findings_total } = report;
  const lines = [
    ok ? 'The record is whole.' : `The record is NOT whole: ${count(findings_total, 'problem')}.`,
    `  ${count(rows, 'row')} in ${count(chains, 'chain')}, ${count(checkpoints, 'checkpoint')}; ${sealed} sealed, ${unsealed} not sealed yet`,
  ];
  if (archives.total > 0) {
    const away = archives.moved_away.total === 0 ? '' : `, ${archives.moved_away.total} moved away`;
    lines.push(`  ${count(archives.rows, 'row')} of these in ${count(archives.total, 'archive')}: ${archives.checked} checked${away}`);
  }
  if (key !== undefined) lines.push(`  signing key ${key.fingerprint}`);
  findings.forEach((finding, index) => {
    lines.push(`${index === 0 ? 'First: ' : '       '}${visible(finding.message)}`);
  });
  if (findings_total > findings.length) lines.push(`       and ${findings_total - findings.length} more`);
  lines.push('What this does not prove:');
  for (const sentence of report.cannot_prove) lines.push(`  - ${sentence}`);
  return lines.join('\n');
}

/** What a reader of a list wants to know of the data: verdict or outcome, and the exit code. */
function facts({ data }: RecordedEvent): string {
  const words: string[] = [];
  for (const name of ['verdict', 'outcome', 'decision', 'code', 'exit_code', 'reason']) {
    const value = data[name];
    if (typeof value === 'string' || typeof value === 'number') words.push(name === 'exit_code' ? `exit ${value}` : String(value));
  }
  return words.length === 0 ? '-' : words.join(', ');
}

function reference({ ref }: RecordedEvent): string {
  return `${visible(ref.chain)}:${ref.seq}`;
}

function field(name: string, value: string): string {
  return `  ${`${name}:`.padEnd(14)}${value}`;
}

function time(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `at ${at}` : date.toISOString();
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

function column(text: string, width: number): string {
  const shown = visible(text);
  return shown.length > width ? `${shown.slice(0, width - 1)}…` : shown.padEnd(width);
}
