/**
 * Arguments for a person to read, one member a line. The lines of a longer text stand behind a bar under their count, so that no text
 * passes for another argument.
 */
export function shownArguments(raw: unknown): string {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return asJson(raw);
  return Object.entries(raw)
    .map(([name, value]) => `${JSON.stringify(name).slice(1, -1)}: ${typeof value === 'string' ? text(value) : asJson(value)}`)
    .join('\n');
}

function text(value: string): string {
  if (!value.includes('\n')) return value;
  const lines = value.split('\n');
  return [`${lines.length} lines`, ...lines.map((line) => `  | ${line}`)].join('\n');
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
}
