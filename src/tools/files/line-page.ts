import { ANSWER_CHARS, ANSWER_LINES } from '../output-text.ts';

/** Most of a file in one answer, in bytes of UTF-8. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** Lines of a text that was masked: what stands in front of each is its number in the file. */
export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

export interface Page {
  /** Numbered, one line each. */
  readonly text: string;
  /** 0 when there is none. */
  readonly first: number;
  readonly last: number;
  /** The next line to ask for; undefined at the end of what was given. */
  readonly next: number | undefined;
  /** Characters of a line too long for one answer that were left out, by its number. */
  readonly cut: { readonly line: number; readonly characters: number } | undefined;
}

export interface PageSize {
  readonly lines: number;
  readonly bytes: number;
}

/** Without a limit: what every host shows whole. With one: up to that many lines and MAX_PAGE_BYTES. */
export function pageSize(limit: number | undefined): PageSize {
  return limit === undefined ? { lines: ANSWER_LINES, bytes: ANSWER_CHARS } : { lines: limit, bytes: MAX_PAGE_BYTES };
}

/** As many lines as fit; one that doesn't fit alone is cut and the rest counted. */
export function pageOf(lines: Iterable<NumberedLine>, size: PageSize): Page {
  const shown: string[] = [];
  let bytes = 0;
  let first = 0;
  let last = 0;
  let cut: Page['cut'];
  for (const { number, text } of lines) {
    const line = `${String(number).padStart(6)}\t${text}`;
    const cost = Buffer.byteLength(line) + 1;
    if (shown.length >= size.lines || (shown.length > 0 && (bytes + cost > size.bytes || cut))) {
      return { text: shown.join('\n'), first, last, next: number, cut };
    }
    if (cost > size.bytes) {
      const kept = line.slice(0, size.bytes >> 1).replace(/[\ud800-\udbff]$/, '');
      cut = { line: number, characters: line.length - kept.length };
      shown.push(`${kept} [... ${cut.characters} characters of this line left out ...]`);
    } else shown.push(line);
    bytes += cost;
    if (first === 0) first = number;
    last = number;
  }
  return { text: shown.join('\n'), first, last, next: undefined, cut };
}

/** The lines of a masked text from line `offset` of the file on; `firstNumber` is that of the first one here. */
export function* numbered(
  text: string,
  firstNumber: number,
  offset: number,
  swallowed: ReadonlyMap<number, number>,
): Generator<NumberedLine> {
  let number = firstNumber;
  let index = 0;
  for (let at = 0; at < text.length; index++) {
    const feed = text.indexOf('\n', at);
    const end = feed === -1 ? text.length : feed;
    const gone = swallowed.get(index) ?? 0;
    // A secret of several lines is shown at its first one, also to who asks for a later one.
    if (number + gone >= offset) yield { number, text: text.slice(at, text[end - 1] === '\r' ? end - 1 : end) };
    number += 1 + gone;
    at = end + 1;
  }
}
