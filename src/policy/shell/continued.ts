/** The source of a word with its continued lines joined, as bash has it before anything else: a backslash and a line feed mean themselves in single quotes only. */
export function joinLines(raw: string): string {
  if (!raw.includes('\\\n')) return raw;
  if (!raw.includes("'")) return raw.replaceAll('\\\n', '');
  /** Innermost last: in double quotes a single one means nothing, and in a substitution inside them it does again. */
  const inside: ('"' | '(')[] = [];
  let joined = '';
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i] ?? '';
    const where = inside.at(-1);
    if (char === '\\') {
      if (raw[i + 1] !== '\n') joined += raw.slice(i, i + 2);
      i++;
      continue;
    }
    if (char === "'" && where !== '"') {
      const end = closing(raw, i + 1, raw[i - 1] === '$');
      joined += raw.slice(i, end + 1);
      i = end;
      continue;
    }
    if (char === '"') {
      if (where === '"') inside.pop();
      else inside.push('"');
    } else if (char === '(' && (where === '(' || raw[i - 1] === '$')) inside.push('(');
    else if (char === ')' && where === '(') inside.pop();
    joined += char;
  }
  return joined;
}

/** Where the single quote closes. `escapes`: `$'...'`. */
function closing(raw: string, from: number, escapes: boolean): number {
  let i = from;
  while (i < raw.length && raw[i] !== "'") i += escapes && raw[i] === '\\' ? 2 : 1;
  return i;
}
