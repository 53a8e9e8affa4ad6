import { type Finder, runEnd, startsHere } from './finder.ts';
import type { Shape } from './shapes.ts';

const DEFAULT_REACH = 256;
/** Characters of a run that are taken at once (`runEnd`). */
const PIECE = 4_096;
/** Characters at the start of a value that `REAL` in the table looks at, and one more. */
const LONGEST_PLACEHOLDER = 12;

/** The finder of one row of the table. */
export function shapeFinder(shape: Shape): Finder {
  const flags = shape.any_case === undefined ? 'y' : 'iy';
  const pattern = new RegExp(`(${shape.keep ?? ''})${shape.head}${shape.run}{${shape.min},${shape.min + PIECE}}`, flags);
  const run = new RegExp(`${shape.run}{0,${PIECE}}`, flags);
  const reach = shape.reach ?? DEFAULT_REACH;
  const multiline = shape.reach !== undefined && /\\s/.test(shape.keep ?? '');
  return (text, at, { floor, final }) => {
    if (shape.edge !== undefined && !startsHere(text, at, floor, shape.edge === 'dash')) return undefined;
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) {
      if (final || text.length - at >= reach) return undefined;
      // What decides stands in one line, except for the forms that say otherwise.
      return !multiline && text.indexOf('\n', at) !== -1 ? undefined : 'more';
    }
    const to = runEnd(run, text, at + found[0].length);
    const from = at + (found[1] ?? '').length;
    // What tells a placeholder ("[redacted:", "your-") may not be there yet.
    if (to === text.length && !final && to - from < LONGEST_PLACEHOLDER) return 'more';
    return { from, to, kind: shape.kind, run };
  };
}
