import { withoutHidden } from './hidden.ts';
import { foldLookAlikes } from './look-alikes.ts';

/** One text, read in the ways a model may read it. */
export interface Views {
  /** Lower case, nothing hidden, compatibility forms folded, one blank or one line break where there were several. */
  readonly text: string;
  /** Only its words, a blank between them and at both ends: as they are, with look-alikes folded, and spaced-out letters joined. */
  readonly words: readonly string[];
}

/** What a text is taken apart with. Most texts are ASCII, and Unicode classes cost ten times as much. */
interface Letters {
  readonly camel: RegExp;
  readonly between: RegExp;
  /** "I g n o r e": single letters with the same few signs between them. */
  readonly spaced: RegExp;
}
const ASCII: Letters = {
  camel: /(?<=[a-z])(?=[A-Z][a-z])/g,
  between: /[^a-z0-9@$]+/g,
  spaced: /\b[a-z](?:[ .\-_*|]{1,4}[a-z]\b){4,}/gi,
};
const UNICODE: Letters = {
  camel: /(?<=\p{Ll})(?=\p{Lu}\p{Ll})/gu,
  between: /[^\p{L}\p{N}\p{M}@$]+/gu,
  spaced: /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*|·]{1,4}\p{L}(?![\p{L}\p{N}])){4,}/gu,
};

/** ".ssh" is a place, "ssh" is not. */
const CREDENTIAL_NAMES = /\.(?<![a-z0-9]\.)(?=(?:env|ssh|aws|netrc|npmrc|pypirc|gnupg|kube|git-credentials|config)(?![a-z0-9]))/g;
/** What spaced-out letters spell when nothing shows where a word ends. */
const RUN_TOGETHER =
  /(ignore|disregard|forget)(all|any|the|your|my)?(all|any|the|your|my)?(previous|prior|earlier|above)(system)?(instructions?|prompts?|rules|orders)/g;

export function viewsOf(text: string): Views {
  const shown = withoutHidden(text);
  const letters = isAscii(shown) ? ASCII : UNICODE;
  const readable = letters === ASCII ? shown : shown.normalize('NFKC');
  const plain = wordsOf(readable, letters);
  const folded = foldLookAlikes(plain);
  const spelled = spelledOut(readable, letters);
  const lower = readable
    .toLowerCase()
    .replace(/[^\S\n]{2,}|[\r\t\f\v\u00a0]/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
  return {
    text: lower,
    words: [plain, ...(folded === plain ? [] : [folded]), ...(spelled === '' ? [] : [foldLookAlikes(wordsOf(spelled, UNICODE))])],
  };
}

function wordsOf(text: string, { camel, between }: Letters): string {
  const separate = text
    .replace(camel, ' ')
    .toLowerCase()
    .replace(/n['’´]t\b/g, ' not')
    .replace(CREDENTIAL_NAMES, ' dot');
  return ` ${withoutAccents(separate).replace(between, ' ').trim()} `;
}

/** Of Latin letters only: in other scripts a mark is part of the letter. */
function withoutAccents(text: string): string {
  if (isAscii(text)) return text;
  return text
    .normalize('NFD')
    .replace(/(?<=[a-z])\p{M}+/gu, '')
    .normalize('NFC');
}

function spelledOut(text: string, { spaced }: Letters): string {
  const runs = text.match(spaced);
  if (runs === null) return '';
  const words = runs.flatMap((run) => run.split(/ {2,}/).map((word) => word.replace(/[^\p{L}]/gu, '')));
  return words
    .join(' ')
    .toLowerCase()
    .replace(RUN_TOGETHER, (_, ...parts: (string | undefined)[]) => parts.slice(0, 6).join(' '));
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}
