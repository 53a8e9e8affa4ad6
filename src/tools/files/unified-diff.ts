/** Lines `from` (inclusive) to `to` of both sides that differ. */
interface Change {
  readonly a: readonly [from: number, to: number];
  readonly b: readonly [from: number, to: number];
}

export interface Diff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
  /** More differs than is compared line by line: then there is no text, and the counts are those of the whole stretch. */
  readonly too_large: boolean;
}

const CONTEXT = 3;
/** Characters of both sides, between the first difference and the last. */
const MAX_COMPARED = 2 * 1024 * 1024;
/** Cells of the table that compares two stretches without a line of their own; larger ones are replaced as a whole. */
const MAX_CELLS = 1_000_000;

/** A unified diff as `patch` and `git apply` take it; empty where nothing differs. */
export function unifiedDiff(path: string, before: string, after: string): Diff {
  if (before === after) return { text: '', added: 0, removed: 0, too_large: false };
  const part = differingPart(before, after);
  if (part.before.length + part.after.length > MAX_COMPARED) {
    return { text: '', added: countLines(part.after), removed: countLines(part.before), too_large: true };
  }
  const a = splitLines(part.before);
  const b = splitLines(part.after);
  const changes = changesBetween(a, b);
  const name = /[\x00-\x1f"\\\x7f]/.test(path) ? JSON.stringify(path).slice(1, -1) : path;
  const head = (side: string): string => (name === path ? `${side}/${name}` : `"${side}/${name}"`);
  const lines = [`--- ${head('a')}`, `+++ ${head('b')}`, ...hunksOf(changes, a, b, part.line)];
  return {
    text: `${lines.join('\n')}\n`,
    added: changes.reduce((sum, { b: [from, to] }) => sum + to - from, 0),
    removed: changes.reduce((sum, { a: [from, to] }) => sum + to - from, 0),
    too_large: false,
  };
}

/** Whole lines, from the context before the first difference to that after the last; `line` is how many come before. */
function differingPart(before: string, after: string): { readonly before: string; readonly after: string; readonly line: number } {
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before[same] === after[same]) same++;
  let start = same === 0 ? 0 : before.lastIndexOf('\n', same - 1) + 1;
  let tail = 0;
  while (tail < most - same && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const shift = after.length - before.length;
  let end = before.length - tail;
  const atLine = (text: string, at: number): boolean => at === 0 || text[at - 1] === '\n';
  if (!atLine(before, end) || !atLine(after, end + shift)) end = nextLine(before, end);
  for (let line = 0; line < CONTEXT; line++) {
    start = start <= 1 ? 0 : before.lastIndexOf('\n', start - 2) + 1;
    end = nextLine(before, end);
  }
  return { before: before.slice(start, end), after: after.slice(start, end + shift), line: countFeeds(before, start) };
}

function nextLine(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed === -1 ? text.length : feed + 1;
}

function countFeeds(text: string, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const countLines = (text: string): number => countFeeds(text, text.length) + (text === '' || text.endsWith('\n') ? 0 : 1);

/** Each with its line feed; the last one may have none. */
function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf('\n', at);
    const end = feed === -1 ? text.length : feed + 1;
    lines.push(text.slice(at, end));
    at = end;
  }
  return lines;
}

function hunksOf(changes: readonly Change[], a: readonly string[], b: readonly string[], offset: number): readonly string[] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    if (last && change.a[0] - (last.at(-1)?.a[1] ?? 0) <= 2 * CONTEXT) last.push(change);
    else hunks.push([change]);
  }
  return hunks.flatMap((hunk) => {
    const [first, last] = [hunk[0], hunk.at(-1)];
    if (!first || !last) return [];
    const before = Math.min(CONTEXT, first.a[0]);
    const after = Math.min(CONTEXT, a.length - last.a[1]);
    const out: string[] = [];
    let at = first.a[0] - before;
    const same = (to: number): void => {
      for (; at < to; at++) out.push(...shown(' ', a[at]));
    };
    for (const change of hunk) {
      same(change.a[0]);
      for (; at < change.a[1]; at++) out.push(...shown('-', a[at]));
      for (let line = change.b[0]; line < change.b[1]; line++) out.push(...shown('+', b[line]));
    }
    same(last.a[1] + after);
    const range = (from: number, to: number): string =>
      `${offset + (to === from ? from : from + 1)}${to - from === 1 ? '' : `,${to - from}`}`;
    const sides = [range(first.a[0] - before, last.a[1] + after), range(first.b[0] - before, last.b[1] + after)];
    return [`@@ -${sides[0]} +${sides[1]} @@`, ...out];
  });
}

function shown(mark: string, line: string | undefined): readonly string[] {
  const text = line ?? '';
  return text.endsWith('\n') ? [mark + text.slice(0, -1)] : [mark + text, '\\ No newline at end of file'];
}

/**
 * Lines that occur once on both sides hold the rest together (patience diff); what lies between them is compared line by line where
 * it is small. Not always the shortest diff, always a right one, and close to linear.
 */
function changesBetween(a: readonly string[], b: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  const todo: Change[] = [{ a: [0, a.length], b: [0, b.length] }];
  for (let piece = todo.pop(); piece; piece = todo.pop()) {
    let [aFrom, aTo] = piece.a;
    let [bFrom, bTo] = piece.b;
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
      aFrom++;
      bFrom++;
    }
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
      aTo--;
      bTo--;
    }
    if (aFrom === aTo && bFrom === bTo) continue;
    const rest: Change = { a: [aFrom, aTo], b: [bFrom, bTo] };
    const kept = aFrom === aTo || bFrom === bTo ? [] : anchors(a, b, rest);
    if (kept.length === 0) {
      changes.push(...small(a, b, rest));
      continue;
    }
    // Last first, so that the first is taken next and changes come out in order.
    const edges = [...kept, [aTo, bTo] as const];
    for (let i = edges.length - 1; i >= 0; i--) {
      const [fromA, fromB] = i === 0 ? [aFrom, bFrom] : (edges[i - 1] ?? [aFrom, bFrom]);
      const [toA, toB] = edges[i] ?? [aTo, bTo];
      todo.push({ a: [fromA, toA], b: [fromB, toB] });
    }
  }
  return changes;
}

/** Pairs of equal lines that occur once on each side, in an order that both share. */
function anchors(a: readonly string[], b: readonly string[], piece: Change): readonly (readonly [number, number])[] {
  const seen = new Map<string, { a: number; b: number; inA: number; inB: number }>();
  for (let i = piece.a[0]; i < piece.a[1]; i++) {
    const entry = seen.get(a[i] ?? '');
    if (entry) entry.inA++;
    else seen.set(a[i] ?? '', { a: i, b: 0, inA: 1, inB: 0 });
  }
  const pairs: (readonly [number, number])[] = [];
  for (let j = piece.b[0]; j < piece.b[1]; j++) {
    const entry = seen.get(b[j] ?? '');
    if (!entry) continue;
    entry.inB++;
    entry.b = j;
  }
  for (const { a: i, b: j, inA, inB } of seen.values()) if (inA === 1 && inB === 1) pairs.push([i, j]);
  return increasing(pairs);
}

/** The longest part of pairs (in order of their first) whose second ones increase. */
function increasing(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  const secondOf = (index: number | undefined): number => pairs[index ?? -1]?.[1] ?? -1;
  for (let i = 0; i < pairs.length; i++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (secondOf(tails[middle]) < secondOf(i)) low = middle + 1;
      else high = middle;
    }
    before[i] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = i;
  }
  const chain: (readonly [number, number])[] = [];
  for (let i = tails.at(-1) ?? -1; i >= 0; i = before[i] ?? -1) {
    const pair = pairs[i];
    if (pair) chain.push(pair);
  }
  return chain.reverse();
}

/** The longest common subsequence by table, or all of it as one change where the table would be too large. */
function small(a: readonly string[], b: readonly string[], piece: Change): readonly Change[] {
  const [rows, columns] = [piece.a[1] - piece.a[0], piece.b[1] - piece.b[0]];
  if (rows === 0 || columns === 0 || rows * columns > MAX_CELLS) return [piece];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const equal = (row: number, column: number): boolean => a[piece.a[0] + row] === b[piece.b[0] + column];
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      lengths[row * width + column] = equal(row, column)
        ? (lengths[(row + 1) * width + column + 1] ?? 0) + 1
        : Math.max(lengths[(row + 1) * width + column] ?? 0, lengths[row * width + column + 1] ?? 0);
    }
  }
  const changes: Change[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    const start = [row, column] as const;
    while (row < rows || column < columns) {
      if (row < rows && column < columns && equal(row, column)) break;
      const down = row < rows ? (lengths[(row + 1) * width + column] ?? 0) : -1;
      const right = column < columns ? (lengths[row * width + column + 1] ?? 0) : -1;
      if (down >= right) row++;
      else column++;
    }
    if (row > start[0] || column > start[1]) {
      changes.push({ a: [piece.a[0] + start[0], piece.a[0] + row], b: [piece.b[0] + start[1], piece.b[0] + column] });
    }
    while (row < rows && column < columns && equal(row, column)) {
      row++;
      column++;
    }
  }
  return changes;
}
