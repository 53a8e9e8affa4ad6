import { findAll } from './find-all.ts';
import { indentOf, isBlank, reindent } from './indentation.ts';
import { endingAt, withEnding } from './line-endings.ts';
import { linesOf } from './text-lines.ts';

/** How exactly the old text was found; in this order, and the first that finds a place decides. */
export const STAGES = ['exact', 'line_endings', 'trailing_whitespace', 'indentation'] as const;
export type Stage = (typeof STAGES)[number];

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

export type Replaced =
  | { readonly ok: true; readonly text: string; readonly stage: Stage; readonly replacements: number }
  | { readonly ok: false; readonly reason: 'not_found' | 'no_change' | 'too_repetitive' }
  /** Lines, counted from 1, of the first places. */
  | {
      readonly ok: false;
      readonly reason: 'not_unique';
      readonly stage: Stage;
      readonly lines: readonly number[];
      readonly places: number;
    };

/** A place of the old text, and what the new one is there. */
interface Place {
  readonly from: number;
  readonly to: number;
  fit(text: string): string;
}

/** Places that are counted; more are "at least". */
export const MAX_COUNTED = 1000;
/** Lines compared by their indentation, over all candidates. */
const MAX_COMPARED = 20_000_000;
const BOM = '\u00ef\u00bb\u00bf';

/**
 * One replacement in a file's bytes, each byte one character ("latin1"), so that whatever isn't matched stays as it is, whatever
 * its encoding. Everything looked at (line endings, blanks) is ASCII and can't be part of a longer UTF-8 character.
 */
export function replace(bytes: string, edit: Edit): Replaced {
  if (edit.old_string === edit.new_string) return { ok: false, reason: 'no_change' };
  const bom = bytes.startsWith(BOM) ? BOM : '';
  const text = bytes.slice(bom.length);
  const [old, fresh] = [edit.old_string, edit.new_string].map((one) => (bom !== '' && one.startsWith(BOM) ? one.slice(BOM.length) : one));
  if (!old || fresh === undefined) return { ok: false, reason: 'not_found' };
  const limit = edit.replace_all ? Number.POSITIVE_INFINITY : MAX_COUNTED;
  for (const stage of STAGES) {
    const places = FINDERS[stage](text, old, limit);
    if (places === 'too_repetitive') return { ok: false, reason: 'too_repetitive' };
    const [first] = places;
    if (first === undefined) continue;
    if (places.length > 1 && !edit.replace_all) {
      return {
        ok: false,
        reason: 'not_unique',
        stage,
        lines: places.slice(0, 5).map(({ from }) => lineAt(text, from)),
        places: places.length,
      };
    }
    const apart = withoutOverlap(places);
    const result = bom + put(text, apart, fresh);
    return result === bytes ? { ok: false, reason: 'no_change' } : { ok: true, text: result, stage, replacements: apart.length };
  }
  return { ok: false, reason: 'not_found' };
}

type Finder = (text: string, old: string, limit: number) => readonly Place[] | 'too_repetitive';

const FINDERS: Readonly<Record<Stage, Finder>> = {
  exact: (text, old, limit) => {
    const found = findAll(Buffer.from(text, 'latin1'), Buffer.from(old, 'latin1'), limit);
    return found.map((from) => inPlace(text, from, from + old.length));
  },
  line_endings: (text, old, limit) => {
    if (!text.includes('\r\n') && !old.includes('\r\n')) return [];
    const { bytes, origin } = withoutReturns(text);
    const needle = Buffer.from(old.replaceAll('\r\n', '\n'), 'latin1');
    return findAll(bytes, needle, limit).map((at) => {
      const last = at + needle.length - 1;
      const from = origin[at] ?? 0;
      // A line feed that had a carriage return takes it along on both sides.
      const start = bytes[at] === 10 && text[from - 1] === '\r' ? from - 1 : from;
      return inPlace(text, start, (origin[last] ?? text.length - 1) + 1);
    });
  },
  trailing_whitespace: (text, old, limit) => wholeLines(text, old, limit, false),
  indentation: (text, old, limit) => wholeLines(text, old, limit, true),
};

function inPlace(text: string, from: number, to: number): Place {
  return { from, to, fit: (fresh) => withEnding(fresh, endingAt(text, from, to)) };
}

/** The text without the carriage return of each line ending, and where each byte was. */
function withoutReturns(text: string): { readonly bytes: Buffer; readonly origin: Int32Array } {
  const bytes = Buffer.allocUnsafe(text.length);
  const origin = new Int32Array(text.length);
  let size = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) continue;
    bytes[size] = code;
    origin[size] = at;
    size++;
  }
  return { bytes: bytes.subarray(0, size), origin };
}

/** A loop, since an expression anchored at the end alone is quadratic in the length of a run of blanks. */
function trimmedEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t' || line[end - 1] === '\r')) end--;
  return line.slice(0, end);
}

/** The last two stages compare lines as a whole, without what may differ: blanks at the end, then those at the beginning, too. */
function wholeLines(text: string, old: string, limit: number, indented: boolean): readonly Place[] | 'too_repetitive' {
  const plain = old.replaceAll('\r\n', '\n');
  const ends = plain.endsWith('\n');
  const wanted = (ends ? plain.slice(0, -1) : plain).split('\n').map(trimmedEnd);
  // Blank lines alone look like any other blank lines.
  if (wanted.every(isBlank)) return [];
  const key = (line: string): string => (indented ? line.slice(indentOf(line).length) : line);
  const numbers = new Map<string, number>();
  for (const line of wanted) numbers.set(key(line), numbers.get(key(line)) ?? numbers.size);
  const lines = linesOf(text);
  const contentAt = (line: number): string => trimmedEnd(text.slice(lines.start(line), lines.end(line)));
  const haystack = new Int32Array(lines.count);
  for (let line = 0; line < lines.count; line++) haystack[line] = numbers.get(key(contentAt(line))) ?? -1;
  const needle = Int32Array.from(wanted, (line) => numbers.get(key(line)) ?? -1);

  const places: Place[] = [];
  const marked = wanted.flatMap((line, index) => (isBlank(line) ? [] : [index]));
  const written = marked.map((index) => indentOf(wanted[index] ?? ''));
  let compared = 0;
  for (const first of findAll(haystack, needle, Number.POSITIVE_INFINITY)) {
    const last = first + wanted.length - 1;
    const to = ends ? lines.next(last) : lines.end(last);
    const from = lines.start(first);
    let shape = (fresh: string): string => fresh;
    if (indented) {
      compared += marked.length;
      if (compared > MAX_COMPARED) return 'too_repetitive';
      const map = reindent(
        written,
        marked.map((index) => indentOf(contentAt(first + index))),
      );
      if (map === undefined) continue;
      shape = (fresh) => reindented(fresh, map);
    }
    // The last line of a file may have no ending; then the new one has none either.
    const open = ends && text[to - 1] !== '\n';
    const ending = endingAt(text, from, to);
    places.push({
      from,
      to,
      fit: (fresh) => {
        const shaped = withEnding(shape(fresh.replaceAll('\r\n', '\n')), ending);
        return open ? shaped.replace(/\r?\n$/, '') : shaped;
      },
    });
    if (places.length >= limit) break;
  }
  return places;
}

function reindented(fresh: string, map: (indent: string) => string): string {
  return fresh
    .split('\n')
    .map((line) => {
      if (isBlank(line)) return '';
      const indent = indentOf(line);
      return map(indent) + line.slice(indent.length);
    })
    .join('\n');
}

/** Left to right. */
function withoutOverlap(places: readonly Place[]): readonly Place[] {
  const apart: Place[] = [];
  let end = 0;
  for (const place of places) {
    if (place.from < end) continue;
    apart.push(place);
    end = place.to;
  }
  return apart;
}

function put(text: string, places: readonly Place[], fresh: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const place of places) {
    pieces.push(text.slice(done, place.from), place.fit(fresh));
    done = place.to;
  }
  pieces.push(text.slice(done));
  return pieces.join('');
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1)) line++;
  return line;
}
