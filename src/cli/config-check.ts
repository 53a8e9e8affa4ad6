import type { ConfigExplanation, ConfigNote, ExplainedValue } from '../kernel/config/index.ts';

/** The answer of `writ config check` for a person: problems first, then every value with where it came from. Ends with a line end. */
export function renderConfigCheck(explanation: ConfigExplanation): string {
  const lines: string[] = [];
  if (!explanation.ok) {
    lines.push('The configuration can not be used; nothing runs until it is mended.', '');
    for (const problem of explanation.problems) lines.push(...note('error', problem));
    for (const warning of explanation.warnings) lines.push(...note('warning', warning));
    return `${lines.join('\n')}\n`;
  }
  for (const warning of explanation.warnings) lines.push(...note('warning', warning));
  if (explanation.warnings.length > 0) lines.push('');
  lines.push(`Writ home  ${explanation.home}`);
  lines.push(`Files      ${explanation.files.length === 0 ? 'none: all values are defaults' : explanation.files.join(', ')}`, '');
  const rows = explanation.values.map((value) => [value.path, shown(value), origin(value)] as const);
  const widest = (column: 0 | 1, most: number): number => Math.min(most, Math.max(...rows.map((row) => row[column].length)));
  const [first, second] = [widest(0, 40), widest(1, 40)];
  for (const [path, value, from] of rows) lines.push(`${path.padEnd(first)}  ${value.padEnd(second)}  ${from}`);
  return `${lines.join('\n')}\n`;
}

function note(kind: 'error' | 'warning', { file, line, message, fix }: ConfigNote): string[] {
  const where = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  return [`${kind}: ${where}${message}`, ...(fix === undefined ? [] : [`  fix: ${fix}`])];
}

function shown({ value, unit }: ExplainedValue): string {
  const bytes = unit === 'bytes' && typeof value === 'number' ? inUnits(value) : undefined;
  const text = bytes ?? (typeof value === 'string' ? value : JSON.stringify(value));
  const cut = text.length > 120 ? `${text.slice(0, 119)}…` : text;
  return bytes === undefined && unit !== undefined && typeof value === 'number' ? `${cut} ${unit}` : cut;
}

function inUnits(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= size) return `${Number((bytes / size).toFixed(1))} ${unit}`;
  }
  return `${bytes} bytes`;
}

function origin({ source, place }: ExplainedValue): string {
  return place === undefined ? source : `${source} (${place})`;
}
