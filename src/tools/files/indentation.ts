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

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** One step of indentation, by what all of them have in common. */
function unitOf(relative: readonly string[]): string | undefined {
  const style = styleOf(relative);
  if (style === 'tabs') return '\t';
  if (style !== 'spaces') return undefined;
  return ' '.repeat(relative.reduce((found, one) => divisor(found, one.length), 0));
}

const levels = (relative: string, unit: string): number => relative.length / unit.length;

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
  const writtenSteps = written.map((one) => one.slice(from.length));
  const standingSteps = standing.map((one) => one.slice(to.length));
  const same = writtenSteps.every((one, i) => one === standingSteps[i]);
  const [unitFrom, unitTo] = [unitOf(writtenSteps), unitOf(standingSteps)];
  if (!same) {
    if (unitFrom === undefined || unitTo === undefined) return undefined;
    if (!writtenSteps.every((one, i) => levels(one, unitFrom) === levels(standingSteps[i] ?? '', unitTo))) return undefined;
  }
  const step = stepMapper({ same, unitFrom, unitTo, from, to });
  return (indent) => {
    if (indent.length > MAX_INDENT) return indent;
    if (indent.startsWith(from)) return to + step(indent.slice(from.length));
    if (!from.startsWith(indent)) return to;
    // Less than anything in the block: as many steps less in the file.
    return to.slice(0, Math.max(0, to.length - step(from.slice(indent.length)).length));
  };
}

interface StepFacts {
  readonly same: boolean;
  readonly unitFrom: string | undefined;
  readonly unitTo: string | undefined;
  readonly from: string;
  readonly to: string;
}

function stepMapper({ same, unitFrom, unitTo, from, to }: StepFacts): (steps: string) => string {
  if (!same && unitFrom !== undefined && unitTo !== undefined) return (steps) => unitTo.repeat(Math.round(levels(steps, unitFrom)));
  const target = styleOf([to]);
  // All on one level: the step isn't known, but the style of the file is.
  return (steps) => {
    const given = styleOf([steps]);
    if (unitFrom !== undefined || given === 'none' || given === target || target === 'none' || target === 'mixed') return steps;
    if (given === 'spaces') return '\t'.repeat(Math.max(1, Math.round(steps.length / (from.length || USUAL_UNIT))));
    return given === 'tabs' ? ' '.repeat(steps.length * (to.length % USUAL_UNIT === 0 ? USUAL_UNIT : 2)) : steps;
  };
}
