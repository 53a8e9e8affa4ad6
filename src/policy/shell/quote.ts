import { asSource, type Text } from '../text.ts';

/** A decoded word as source text that decodes to itself again: live globs stay live, everything else is escaped. */
export const quoteWord = (word: Text): string =>
  word === '' ? "''" : asSource(word.replace(/[^\w./:@%+=,\uFDD0-\uFDEF-]/g, (char) => (char === '\n' ? "'\n'" : `\\${char}`)));
