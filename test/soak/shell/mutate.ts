import { readFileSync } from 'node:fs';
import type { Random } from '../kit/random.ts';

const PIECES = JSON.parse(readFileSync(new URL('../../corpora/shell-pieces.json', import.meta.url), 'utf8')) as readonly string[];
const ODD = [
  '\0',
  '\x01',
  '\x07',
  '\b',
  '\t',
  '\v',
  '\f',
  '\r',
  '\x1b[2J',
  '\x7f',
  '\x80',
  '\u00a0',
  '\u2028',
  '\u200b',
  '\u202e',
  '\ufeff',
  '\ufdd0',
  '\ufdd4',
  '\ud800',
  '\udc00',
  'é',
  '𝒳',
  '；',
  '｜',
  '＄',
  '\u3000',
  'ⅰ',
];

/** A command near one of the seeds. */
export function mutateCommand(seeds: readonly string[], random: Random): string {
  let text = random.pick(seeds);
  for (let edits = 1 + random.below(4); edits > 0; edits--) text = edit(text, seeds, random);
  return text;
}

function edit(text: string, seeds: readonly string[], random: Random): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + random.below(6));
  const put = (piece: string, until = at): string => text.slice(0, at) + piece + text.slice(until);
  switch (random.below(14)) {
    case 0:
      return flip(text, random);
    case 1:
      return put('', to);
    case 2:
      return put(text.slice(at, to), at);
    case 3:
    case 4:
      return put(random.pick(PIECES));
    case 5:
      return put(random.pick(PIECES), to);
    case 6:
      return put(random.pick(ODD));
    case 7: {
      const other = random.pick(seeds);
      return put(other.slice(random.below(other.length)), random.chance(0.5) ? text.length : at);
    }
    case 8:
      return requote(text, random);
    case 9:
      return nest(text, random);
    case 10:
      return random.chance(0.5) ? text.slice(0, at) : text.slice(at);
    case 11: {
      const pieces = text.split(/(\s+)/);
      const [one, other] = [random.below(pieces.length), random.below(pieces.length)];
      [pieces[one], pieces[other]] = [pieces[other] ?? '', pieces[one] ?? ''];
      return pieces.join('');
    }
    case 12:
      return random.chance(0.06)
        ? put(random.pick(['x', '/a', '../', '{a,b}', '*', "''", '$x', '\\', 'é', '\ud800']).repeat(random.below(5_000)))
        : put(' ');
    default:
      return random.chance(0.5)
        ? `${text}${random.pick(['\n', '; ', ' && ', ' | ', ' & '])}${random.pick(seeds)}`
        : put(random.pick(['\n', ' ', '\\\n', '\t']));
  }
}

/** One bit of its UTF-8, read again as text. */
function flip(text: string, random: Random): string {
  const bytes = Buffer.from(text);
  const at = random.below(Math.max(1, bytes.length));
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes.toString('utf8');
}

/** Another way to write the same word, or nearly. */
function requote(text: string, random: Random): string {
  const words = [...text.matchAll(/[\w./-]+/g)];
  if (words.length === 0) return text;
  const { index, 0: word } = random.pick(words);
  const cut = random.below(word.length + 1);
  const escaped = [...word].map((char) => `\\x${(char.codePointAt(0) ?? 0).toString(16)}`).join('');
  const written = random.pick([
    `'${word}'`,
    `"${word}"`,
    `$'${word}'`,
    `$'${escaped}'`,
    `$"${word}"`,
    `${word.slice(0, cut)}''${word.slice(cut)}`,
    `${word.slice(0, cut)}\\${word.slice(cut)}`,
    `${word.slice(0, cut)}"${word.slice(cut)}"`,
    `${word.slice(0, cut)}\\\n${word.slice(cut)}`,
    `$(echo ${word})`,
    `\${none:-${word}}`,
    `{${word},}`,
    `\\${word}`,
  ]);
  return text.slice(0, index) + written + text.slice(index + word.length);
}

function nest(text: string, random: Random): string {
  const single = (inner: string): string => `'${inner.replaceAll("'", "'\\''")}'`;
  const around: readonly ((inner: string) => string)[] = [
    (inner) => `( ${inner} )`,
    (inner) => `{ ${inner}; }`,
    (inner) => `echo $(${inner})`,
    (inner) => `echo "$(${inner})"`,
    (inner) => `echo \`${inner.replaceAll('`', '\\`')}\``,
    (inner) => `if true; then ${inner}; fi`,
    (inner) => `for i in 1 2; do ${inner}; done`,
    (inner) => `f() { ${inner}; }; f`,
    (inner) => `case x in *) ${inner};; esac`,
    (inner) => `cat <(${inner})`,
    (inner) => `bash -c ${single(inner)}`,
    (inner) => `eval ${single(inner)}`,
    (inner) => `sudo env A=1 ${inner}`,
    (inner) => `bash <<'E'\n${inner}\nE\n`,
    (inner) => `cat <<E\n$(${inner})\nE\n`,
    (inner) => `x=\${y:-$(${inner})}`,
    (inner) => `echo $((1 + $(${inner})))`,
    (inner) => `[[ -n $(${inner}) ]]`,
    (inner) => `! ${inner}`,
    (inner) => `time ${inner}`,
    (inner) => `coproc ${inner}`,
  ];
  const wrap = random.pick(around);
  let nested = text;
  const rounds = random.chance(0.02) ? random.below(60) : 1 + random.below(2);
  // Quoting doubles quickly: what is long enough isn't wrapped again.
  for (let round = 0; round < rounds && nested.length < 20_000; round++) nested = wrap(nested);
  return nested;
}
