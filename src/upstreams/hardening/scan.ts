import { visible } from '../../kernel/visible.ts';
import { decodedTexts } from './encoded.ts';
import type { Finding, FindingKind } from './findings.ts';
import { hiddenIn, isDirected, withoutHidden } from './hidden.ts';
import { lookAlikeWord } from './look-alikes.ts';
import { forgedDialogue, MARKERS } from './markers.ts';
import { createPhraseFinder, SMALL_WORDS } from './phrase.ts';
import { ENGLISH } from './phrases.ts';
import { OTHER_LANGUAGES, UNSPACED_PATTERNS } from './phrases-of-languages.ts';
import { stringsOf } from './strings.ts';
import { viewsOf } from './views.ts';

/** More of one text is not looked through, and the finding says so. */
export const MAX_SCANNED = 2 * 1024 * 1024;
const EXCERPT_CHARS = 160;
/** An order that is encoded twice is found, one that is encoded three times is not. */
const DEPTH = 2;

const PHRASES = [...ENGLISH, ...OTHER_LANGUAGES];
const findPhrases = createPhraseFinder(PHRASES);
const findSpread = createPhraseFinder(PHRASES, SMALL_WORDS);

/**
 * What in a foreign text looks like an order to a model, at most one finding of each kind. Advice, not a boundary: it knows phrases,
 * forms and hiding places, not meanings. Linear in the text.
 */
export function scanText(text: string): readonly Finding[] {
  const found = new Map<FindingKind, Finding>();
  const add = (kind: FindingKind, excerpt: string): void => {
    if (!found.has(kind)) found.set(kind, findingOf(kind, excerpt));
  };
  if (text.length > MAX_SCANNED) add('unscanned', `only the first ${MAX_SCANNED} of ${text.length} characters were looked at`);
  look(text.slice(0, MAX_SCANNED), DEPTH, add);
  return [...found.values()];
}

type Add = (kind: FindingKind, excerpt: string) => void;

function look(text: string, depth: number, report: Add): void {
  const here = new Set<FindingKind>();
  const add: Add = (kind, excerpt) => {
    here.add(kind);
    report(kind, excerpt);
  };
  const hidden = hiddenIn(text);
  if (hidden !== undefined) add('hidden', hidden);
  const foreign = /[^\x00-\x7f]/.test(text);
  const disguised = foreign ? lookAlikeWord(withoutHidden(text)) : undefined;
  if (disguised !== undefined) add('look_alikes', disguised);
  const { text: plain, words } = viewsOf(text);
  for (const view of words) {
    for (const { kind, text: excerpt } of findPhrases(view)) add(kind, excerpt);
  }
  if (foreign) for (const { kind, pattern } of UNSPACED_PATTERNS) addMatch(pattern, plain, kind, add);
  for (const { kind, pattern } of MARKERS) addMatch(pattern, plain, kind, add);
  if (forgedDialogue(text)) add('role', 'a dialogue of a person and an assistant');
  if (depth === 0) return;
  for (const inner of decodedTexts(text)) {
    // What is readable without decoding was found above.
    look(inner, depth - 1, (kind, excerpt) => (kind === 'hidden' || here.has(kind) ? undefined : report('encoded', excerpt)));
  }
}

function addMatch(pattern: RegExp, text: string, kind: FindingKind, add: Add): void {
  const match = pattern.exec(text);
  if (match !== null) add(kind, match[0]);
}

/** A finding and the place of the string that holds it, or that several hold it together. */
export interface PlacedFinding extends Finding {
  readonly path: string;
}

/**
 * The same for a JSON value: every name and text by itself, and all of them in one go, since an order can be spread over property names or
 * the values of an enumeration.
 */
export function scanJson(value: unknown): readonly PlacedFinding[] {
  const { all, names, texts, authored } = stringsOf(value);
  const found = new Map<FindingKind, PlacedFinding>();
  const places = new Map<string, string>();
  for (const { path, text } of all) if (!isPlainWord(text) && !places.has(text)) places.set(text, path);
  // What is in one of them is in all of them put together, and most often there is nothing. Only marks of direction are judged by their text.
  const together = [...places.keys()].join('\n');
  if (isDirected(together) || scanText(together).length > 0) {
    for (const [text, path] of places) {
      for (const finding of scanText(text)) if (!found.has(finding.kind)) found.set(finding.kind, { ...finding, path });
    }
  }
  for (const joined of [names, texts, authored]) {
    for (const view of viewsOf(joined.join(' ').slice(0, MAX_SCANNED)).words) {
      for (const { kind, text } of findSpread(view))
        if (!found.has(kind)) found.set(kind, { ...findingOf(kind, text), path: 'several places together' });
    }
  }
  return [...found.values()];
}

/** Too short for any finding, as most words of a schema are. */
function isPlainWord(text: string): boolean {
  return text.length < 8 && !/[^\x20-\x7e]/.test(text);
}

function findingOf(kind: FindingKind, excerpt: string): Finding {
  return { kind, excerpt: visible(excerpt.slice(0, EXCERPT_CHARS)) };
}
