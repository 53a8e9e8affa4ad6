/** How the indentation of one block becomes that of another. */
export type Reindent = (indent: string) => string;

export const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';
export const isBlank = (line: string): boolean => /^[ \t\r]*$/.test(line);

type Style = 'tabs' | 'spaces' | 'mixed' | 'none';

function styleOf(indents: readonly string[]): Style {
  const text = indents.join('');
  if (text === '') return 'none';
  return /^\t+$/.test(text) ? 'tabs' : /^ +$/.test(text) ? 'spaces' : 'mixed';
}

/** The shortest, if all others begin with it. */
function baseOf(indents: readonly string[]): string | undefined {
  const shortest = indents.reduce((found, one) => (one.length < found.length ? one : found), indents[0] ?? '');
  return indents.every((one) => one.startsWith(shortest)) ? shortest : undefined;
}

/** Deeper is no indentation, and mapping it could make a text that fits nowhere. */
const MAX_INDENT = 256;
/** When nothing in a block says how wide one step is. */
const USUAL_UNIT = 4;

/**
 * The mapping from the indentations somebody wrote to those that stand in the file, line by line; undefined when the lines
 * aren't indented alike relative to each other. Tabs and spaces may stand for each other, and steps may be of different width.
 */
export function reindent(written: readonly string[], standing: readonly string[]): Reindent | undefined {
  const from = baseOf(written);
  const to = baseOf(standing);
  if (from === undefined || to === undefined || [...written, ...standing].some((one) => one.length > MAX_INDENT)) return undefined;
  const steps = stepMapper(
    written.map((one) => one.slice(from.length)),
    standing.map((one) => one.slice(to.length)),
    { from, to },
  );
  if (steps === undefined) return undefined;
  return (indent) => {
    if (indent.length > MAX_INDENT) return indent;
    if (indent.startsWith(from)) return to + steps(indent.slice(from.length));
    if (!from.startsWith(indent)) return to;
    // Less than anything in the block: as many steps less in the file.
    return to.slice(0, Math.max(0, to.length - steps(from.slice(indent.length)).length));
  };
}

/** What one more step of the writer is in the file. */
function stepMapper(
  written: readonly string[],
  standing: readonly string[],
  base: { readonly from: string; readonly to: string },
): ((steps: string) => string) | undefined {
  if (written.every((one, i) => one === standing[i])) return styleOf(written) === 'none' ? guessed(base) : (steps) => steps;
  const [styleFrom, styleTo] = [styleOf(written), styleOf(standing)];
  if (styleFrom === 'mixed' || styleTo === 'mixed' || styleFrom === 'none' || styleTo === 'none') return undefined;
  // All steps are wider or narrower by the same factor, or it is another shape.
  const first = written.findIndex((one) => one !== '');
  const wide = written[first]?.length ?? 0;
  const stands = standing[first]?.length ?? 0;
  if (stands === 0 || !written.every((one, i) => one.length * stands === (standing[i]?.length ?? 0) * wide)) return undefined;
  const unit = styleTo === 'tabs' ? '\t' : ' ';
  return (steps) => unit.repeat(Math.round((steps.length * stands) / wide));
}

/** All on one level: the width of a step isn't known, but the style of the file is. */
function guessed({ from, to }: { readonly from: string; readonly to: string }): (steps: string) => string {
  const target = styleOf([to]);
  return (steps) => {
    const given = styleOf([steps]);
    if (given === 'tabs' && target === 'spaces') return ' '.repeat(steps.length * (to.length % USUAL_UNIT === 0 ? USUAL_UNIT : 2));
    if (given === 'spaces' && target === 'tabs') return '\t'.repeat(Math.max(1, Math.round(steps.length / (from.length || USUAL_UNIT))));
    return steps;
  };
}
