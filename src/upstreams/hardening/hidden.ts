/** Characters and sequences that a person doesn't see and a model reads, or that make a person see something else. */

/** A flag of a region (🏴 and tags) is the one honest use of tag characters. */
const REGION_FLAG = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}/gu;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Terminal sequences: CSI, OSC, DCS and relatives, others. Bounded: an unended one ends where the line does. */
const TERMINAL =
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]?|\u001b[\]PX^_][^\u0007\u001b\u009c\n]{0,4096}(?:\u0007|\u001b\\|\u009c)?|\u001b./gu;

/** Joins or splits what stands around it and shows as nothing. */
const ZERO_WIDTH = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/u;
const ZERO_WIDTHS = new RegExp(ZERO_WIDTH, 'gu');
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/gu;

/** Scripts in which a joiner or its absence changes the letters around it. */
const JOINING = 'Arabic Devanagari Bengali Gurmukhi Gujarati Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Mongolian';
/** Scripts without blanks, where a zero-width space says where a line may end. */
const UNSPACED = 'Thai Lao Khmer Myanmar';
const scripts = (names: string): string => names.replace(/\w+ ?/g, (name) => `\\p{Script=${name.trim()}}`);
const SELECTOR = '[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]';

/**
 * Zero-width characters where writing needs them: a joiner after a letter of a script that joins or between the parts of an emoji, one
 * variation selector after a sign, a mark for line ends.
 */
const HONEST = new RegExp(
  [
    `(?<=[${scripts(JOINING)}\\p{M}])[\\u200C\\u200D\\u180B-\\u180E]`,
    '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})',
    `(?<=[\\p{So}\\p{Sm}\\p{Po}\\p{Extended_Pictographic}\\p{Script=Han}0-9#*])${SELECTOR}(?!${SELECTOR})`,
    `(?<=[${scripts(UNSPACED)}])\\u200B`,
  ].join('|'),
  'gu',
);

/** Right-to-left text needs marks of direction, so the same marks are judged otherwise in it. */
export function isDirected(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** What a text hides, in a few words; undefined: nothing. Stray zero-width characters alone are no reason: `withoutHidden` takes them out. */
export function hiddenIn(text: string): string | undefined {
  if (/\u001b\[(?:\d{1,3};)*8m|\u009b(?:\d{1,3};)*8m/.test(text)) return 'a terminal sequence that conceals text';
  if (/\u001b[\]PX^_]/.test(text)) return 'a terminal sequence that sets links, titles or the clipboard';
  if (!/[^\x00-\x7f]/.test(text)) return undefined;
  if (/[\u{E0000}-\u{E007F}]/u.test(text.replace(REGION_FLAG, ''))) return 'tag characters, which spell a text that nobody sees';
  if (/[\u202D\u202E]/.test(text)) return 'characters that turn the direction of text';
  if (/[\u202A-\u202C\u2066-\u2069]/.test(text) && !isDirected(text)) return 'characters that turn the direction of text';
  if (/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{3}/u.test(text)) return 'variation selectors in a row, which can spell a text that nobody sees';
  if (/[\u200B-\u200F\u2060-\u206F\uFEFF\u00AD\u180E]{4}/.test(text))
    return 'zero-width characters in a row, which can spell a text that nobody sees';
  return undefined;
}

/** The text without anything hidden, and with what honest writing needs. Linear. */
export function withoutHidden(text: string): string {
  // Printable ASCII, the most usual text of all, has nothing to take out.
  if (!/[^\t\n\r\x20-\x7e]/.test(text)) return text;
  const plain = text.replace(TERMINAL, '').replace(CONTROL, '');
  if (!ZERO_WIDTH.test(plain)) return plain;
  const kept = new Set<number>();
  for (const pattern of [REGION_FLAG, HONEST]) {
    for (const match of plain.matchAll(pattern)) for (let at = match.index; at < match.index + match[0].length; at++) kept.add(at);
  }
  const directed = isDirected(plain);
  return plain.replace(ZERO_WIDTHS, (char, at: number) => {
    if (kept.has(at)) return char;
    if (char === '\u2028' || char === '\u2029') return '\n';
    return directed && /[\u061C\u200E\u200F\u2066-\u2069]/.test(char) ? char : '';
  });
}
