/**
 * Decoded shell text. What the text of a command leaves open is written into the string itself as a mark: a Unicode noncharacter
 * that no shell gives a meaning to. So prefixes, splits and path components stay ordinary string work, and a mark can only ever
 * make a judgement stricter. Marks typed by somebody are turned into HOLE before parsing.
 */
export type Text = string;

/** Nothing is known: any characters, slashes and `..` included. */
export const HOLE = '\uFDD0';
/** As HOLE, and it came from the network or out of a decoder: text that must never become a program. */
export const FOREIGN = '\uFDD1';
/** One or more characters of a plain word (a number, a random suffix): no slash, no dot-dot, no leading dash. */
export const SOME = '\uFDD2';
/** A relative path below what stands before it, without `..`: the output of `find src`. */
export const DEEP = '\uFDD3';
/** Active glob characters. The content of a bracket stays between OPEN and CLOSE. */
export const STAR = '\uFDD4';
export const ONE = '\uFDD5';
export const OPEN = '\uFDD6';
export const CLOSE = '\uFDD7';

const ANY_MARK = /[\uFDD0-\uFDEF]/;
const ALL_MARKS = /[\uFDD0-\uFDEF]/g;
const OPEN_ENDED = /[\uFDD0\uFDD1]/;
const GLOB_MARK = /[\uFDD4-\uFDD7]/;

/** The text can be anything at all in at least one place. */
export const isUnknown = (text: Text): boolean => OPEN_ENDED.test(text);
export const isForeign = (text: Text): boolean => text.includes(FOREIGN);
/** Exactly one string. */
export const isKnown = (text: Text): boolean => !ANY_MARK.test(text);
export const isGlob = (text: Text): boolean => GLOB_MARK.test(text);

/** Noncharacters typed by somebody are not marks of ours. Same length, so that spans stay right. */
export const disarm = (source: string): string => (ANY_MARK.test(source) ? source.replace(ALL_MARKS, HOLE) : source);

const SHOWN: Readonly<Record<string, string>> = {
  [HOLE]: '<unknown>',
  [FOREIGN]: '<unknown>',
  [SOME]: '<some>',
  [DEEP]: '<paths>',
  [STAR]: '*',
  [ONE]: '?',
  [OPEN]: '[',
  [CLOSE]: ']',
};

/** For people. */
export const show = (text: Text): string => (ANY_MARK.test(text) ? text.replace(ALL_MARKS, (mark) => SHOWN[mark] ?? '<unknown>') : text);

/** For rules: the word, or null where any part of it is open. Globs count as open: they stand for names that aren't in the text. */
export const known = (text: Text): string | null => (ANY_MARK.test(text) ? null : text);

const RAW: Readonly<Record<string, string>> = { [STAR]: '*', [ONE]: '?', [OPEN]: '[', [CLOSE]: ']', [DEEP]: HOLE };

/** As text that is going to be parsed again (eval, `sh -c`): globs are characters again, holes stay holes. */
export const asSource = (text: Text): string => (ANY_MARK.test(text) ? text.replace(ALL_MARKS, (mark) => RAW[mark] ?? mark) : text);

const ACTIVE: Readonly<Record<string, string>> = { '*': STAR, '?': ONE, '[': OPEN, ']': CLOSE };

/** The value of an unquoted expansion: its glob characters are live. */
export const activate = (text: Text): Text => (/[*?[]/.test(text) ? text.replace(/[*?[\]]/g, (char) => ACTIVE[char] ?? char) : text);
