import { FOREIGN, HOLE, type Text } from '../text.ts';

/** Where text came from; worst last. Only the last two are dangerous as a program. */
export const ORIGINS = ['local', 'decoded', 'network'] as const;
export type Origin = (typeof ORIGINS)[number];

/** What is known about bytes that flow through a pipe, a file or a here-document. */
export interface Stream {
  readonly origin: Origin;
  /** The whole content, marks included. */
  readonly text?: Text;
  /** The content is a list of paths that all match this. */
  readonly paths?: Text;
  /** Nothing was piped in: standard input is closed or a terminal. */
  readonly none?: true;
}

export const NOTHING: Stream = { origin: 'local', none: true };
export const LOCAL: Stream = { origin: 'local' };

export const worseOrigin = (a: Origin, b: Origin): Origin => (ORIGINS.indexOf(a) >= ORIGINS.indexOf(b) ? a : b);

/** Either of two. */
export function eitherStream(a: Stream, b: Stream): Stream {
  if (a === b) return a;
  const origin = worseOrigin(a.origin, b.origin);
  if (a.none && b.none) return a;
  const text = a.text === undefined || b.text === undefined ? undefined : eitherText(a.text, b.text);
  if (text !== undefined) return { origin, text };
  if (a.paths !== undefined && a.paths === b.paths) return { origin, paths: a.paths };
  return { origin };
}

/** Texts that differ in nothing but whether something open is there at all: the longer one says so. */
function eitherText(a: Text, b: Text): Text | undefined {
  if (a === b) return a;
  const longer = a.length >= b.length ? a : b;
  const solid = (text: Text): Text => text.replaceAll(HOLE, '').replaceAll(' ', '');
  return longer.includes(HOLE) && solid(a) === solid(b) ? longer : undefined;
}

/** One after the other. */
export function thenStream(a: Stream, b: Stream): Stream {
  if (b.none || b.text === '') return a;
  if (a.none || a.text === '') return b;
  const origin = worseOrigin(a.origin, b.origin);
  return a.text !== undefined && b.text !== undefined ? { origin, text: a.text + b.text } : { origin };
}

/** The content as one word of text, as `$(...)` gives it. */
export function streamText(stream: Stream): Text {
  if (stream.none) return '';
  if (stream.text !== undefined) return stream.text.replace(/\n+$/, '');
  if (stream.paths !== undefined) return stream.paths;
  return stream.origin === 'local' ? HOLE : FOREIGN;
}
