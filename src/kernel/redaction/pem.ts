import { type Around, type Finder, type Match, runEnd } from './finder.ts';

/** A key of 16384 bits has 13 KiB. Beyond this an end line is not looked for. */
const WINDOW = 16_384;
const HEADER = /PRIVATE KEY(?: BLOCK)?[A-Z0-9 ]{0,10} ?-{4,5}/y;
const BEFORE = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}$/;
const HEADER_REACH = 40;
const RUN = /[A-Za-z0-9+/=\s\\]{0,4096}/y;
const LONG = 16;

/**
 * The body of a private key between its lines, also with escaped or quoted line ends. A block without an end line loses what looks
 * like key lines after its begin line; one without a begin line loses those before its end line.
 */
export const findPrivateKey: Finder = (text, at, around) => {
  HEADER.lastIndex = at;
  const header = HEADER.exec(text);
  if (header === null) {
    const cut = !around.final && text.length - at < HEADER_REACH && 'PRIVATE KEY'.startsWith(text.slice(at, at + 11));
    return cut ? 'more' : undefined;
  }
  const which = BEFORE.exec(text.slice(Math.max(around.floor, at - 64), at));
  if (which === null) return undefined;
  return which[1] === 'BEGIN' ? bodyAfter(text, at + header[0].length, around) : bodyBefore(text, at - which[0].length, around);
};

function bodyAfter(text: string, start: number, { final }: Around): Match | 'more' | undefined {
  const window = text.slice(start, start + WINDOW);
  const next = /-{4,5} ?(BEGIN|END) /.exec(window);
  if (next === null && window.length < WINDOW && !final) return 'more';
  if (next?.[1] === 'END' && /[A-Za-z0-9+/=]{32}/.test(window.slice(0, next.index))) {
    const from = start + skipBreaks(window, 0);
    return { from, to: start + lastVisible(window, next.index), kind: 'private_key' };
  }
  const length = keyLines(window);
  if (length === 0) return undefined;
  const from = start + skipBreaks(window, 0);
  if (length < WINDOW) return { from, to: start + length, kind: 'private_key' };
  return { from, to: runEnd(RUN, text, start + WINDOW), kind: 'private_key', run: RUN };
}

function bodyBefore(text: string, end: number, { floor, emitted }: Around): Match | undefined {
  const lowest = Math.max(floor, emitted, end - WINDOW);
  let from = end;
  let long = false;
  for (let position = end; position > lowest; ) {
    let stop = position;
    while (stop > lowest && isBreak(text, stop - 1)) stop--;
    let begin = stop;
    while (begin > lowest && isBase64(text.charCodeAt(begin - 1))) begin--;
    // The n of an escaped line end is no part of the line.
    if (begin > lowest && text.charCodeAt(begin - 1) === 92 && stop > begin) begin++;
    const size = stop - begin;
    // Only the last line of a key is short.
    if (size === 0 || (size < LONG && from !== end)) break;
    long ||= size >= LONG;
    from = begin;
    position = begin;
  }
  return long ? { from, to: lastVisible(text, end), kind: 'private_key' } : undefined;
}

/** Length of what looks like lines of a key at the start: long base64 words, header lines, and one short last word. */
function keyLines(text: string): number {
  let end = 0;
  for (let at = skipBreaks(text, 0); at < text.length; ) {
    const header = /^[A-Za-z][A-Za-z0-9-]{1,30}: [^\n\\]{0,200}/.exec(text.slice(at, at + 240));
    if (header !== null) {
      at = skipBreaks(text, at + header[0].length);
      continue;
    }
    let stop = at;
    while (stop < text.length && isBase64(text.charCodeAt(stop))) stop++;
    const size = stop - at;
    if (size === 0 || (size < LONG && end === 0)) return end;
    if (size < LONG) return isBreak(text, stop) || stop === text.length ? (lineBreakBetween(text, end, at) ? stop : end) : end;
    end = stop;
    at = skipBreaks(text, stop);
    if (at === stop) return end;
  }
  return end;
}

function lineBreakBetween(text: string, from: number, to: number): boolean {
  return /\n|\\n/.test(text.slice(from, to));
}

function skipBreaks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBreak(text, at)) at += text.charCodeAt(at) === 92 && /[nrt]/.test(text[at + 1] ?? '') ? 2 : 1;
  return at;
}

function lastVisible(text: string, before: number): number {
  let at = before;
  for (; at > 0; at--) {
    if (isBreak(text, at - 1)) continue;
    if (at > 1 && text.charCodeAt(at - 2) === 92 && /[nrt]/.test(text[at - 1] ?? '')) at--;
    else break;
  }
  return at;
}

/** White space, quotes, commas, backslashes: what stands between the lines of a key in JSON or code. */
function isBreak(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 10 || code === 13 || code === 32 || code === 9 || code === 34 || code === 39 || code === 44 || code === 92;
}

function isBase64(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 47 && code <= 57) || code === 43 || code === 61;
}
