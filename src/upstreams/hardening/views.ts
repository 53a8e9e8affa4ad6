import { withoutHidden } from './hidden.ts';
import { foldLookAlikes } from './look-alikes.ts';

/** One text, read in the ways a model may read it. */
export interface Views {
  /** Lower case, nothing hidden, compatibility forms folded, one blank or one line break where there were several. */
  readonly text: string;
  /** Only its words, a blank between them and at both ends: as they are, with look-alikes folded, and spaced-out letters joined. */
  readonly words: readonly string[];
}

const CREDENTIAL_NAMES = /(^|[^\p{L}\p{N}])\.(?=(?:env|ssh|aws|netrc|npmrc|pypirc|gnupg|kube|git-credentials|config)(?![\p{L}\p{N}]))/gu;

/** "I g n o r e": single letters with the same few signs between them. */
const SPACED_OUT = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*|·]{1,4}\p{L}(?![\p{L}\p{N}])){4,}/gu;
/** What such letters spell when nothing shows where a word ends. */
const RUN_TOGETHER =
  /(ignore|disregard|forget)(all|any|the|your|my)?(all|any|the|your|my)?(previous|prior|earlier|above)(system)?(instructions?|prompts?|rules|orders)/g;

export function viewsOf(text: string): Views {
  const readable = withoutHidden(text).normalize('NFKC');
  const lower = readable
    .toLowerCase()
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
  const plain = wordsOf(readable);
  const folded = foldLookAlikes(plain);
  const spelled = spelledOut(readable);
  return {
    text: lower,
    words: [plain, ...(folded === plain ? [] : [folded]), ...(spelled === '' ? [] : [foldLookAlikes(wordsOf(spelled))])],
  };
}

function wordsOf(text: string): string {
  const separate = text
    .replace(/(?<=\p{Ll})(?=\p{Lu}\p{Ll})/gu, ' ')
    .toLowerCase()
    .replace(/n['’´]t(?![\p{L}\p{N}])/gu, ' not')
    .replace(CREDENTIAL_NAMES, '$1 dot');
  return ` ${withoutAccents(separate)
    .replace(/[^\p{L}\p{N}\p{M}@$]+/gu, ' ')
    .trim()} `.replace(/ do nt /g, ' do not ');
}

/** Of Latin letters only: in other scripts a mark is part of the letter. */
function withoutAccents(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text;
  return text
    .normalize('NFD')
    .replace(/(?<=[a-z])\p{M}+/gu, '')
    .normalize('NFC');
}

function spelledOut(text: string): string {
  const runs = text.match(SPACED_OUT);
  if (runs === null) return '';
  const words = runs.flatMap((run) => run.split(/ {2,}/).map((word) => word.replace(/[^\p{L}]/gu, '')));
  return words
    .join(' ')
    .toLowerCase()
    .replace(RUN_TOGETHER, (_, verb: string, ...rest: (string | undefined)[]) => [verb, ...rest.slice(0, 5)].join(' '));
}
