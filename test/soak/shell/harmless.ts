// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shell text
import type { Random } from '../kit/random.ts';

/** Scripts made from nothing but words, variables and the builtin echo: they can be run, and every way to write a word is in them. */

const PLAIN = ['a', 'b1', 'rm', '-rf', '/', '.', 'x.y', 'A_B', '0', 'src/app', '=', 'k=v', '~', '~/n', ',', ':', '%', '@', '+', 'é', '𝒳'];
const ESCAPES = [
  '\\n',
  '\\t',
  '\\x41',
  '\\x4',
  '\\101',
  '\\u00e9',
  '\\U0001d4b3',
  "\\'",
  '\\"',
  '\\\\',
  '\\e',
  '\\a',
  '\\cA',
  '\\q',
  '\\?',
];
const NAMES = ['x', 'y', 'none'];

export function harmlessScript(random: Random): string {
  const lines = [`x=${piece(random, 1)}`, `y=${quoted(random, 1)}`, `a=(${words(random, 2)})`];
  if (random.chance(0.2)) lines.push(random.pick(['IFS=,', 'IFS=:', "IFS=''", 'IFS=ab']));
  if (random.chance(0.3)) lines.push(`set -- ${words(random, 2)}`);
  if (random.chance(0.2)) lines.push(`x+=${piece(random, 1)}`);
  const show = `show ${words(random, 4)}`;
  lines.push(
    random.pick([show, `{ ${show}; }`, `if :; then ${show}; fi`, `f() { ${show}; }; f`, `eval ${single(show)}`, `${show} <<E\n$x\nE\n`]),
  );
  return lines.join(random.chance(0.5) ? '; ' : '\n');
}

function words(random: Random, most: number): string {
  return Array.from({ length: 1 + random.below(most) }, () => word(random, 2)).join(random.pick([' ', '  ', '\t', ' \\\n']));
}

function word(random: Random, depth: number): string {
  return Array.from({ length: 1 + random.below(3) }, () => piece(random, depth)).join(random.chance(0.05) ? '\\\n' : '');
}

function piece(random: Random, depth: number): string {
  if (depth === 0 || random.chance(0.3)) return random.pick(PLAIN);
  const name = random.pick(NAMES);
  const inner = (): string => piece(random, depth - 1);
  switch (random.below(18)) {
    case 0:
      return `\\${random.pick([' ', '$', '"', "'", '\\', 'a', '*', '{', '~', '\n'])}`;
    case 1:
      return `{${inner()},${inner()}}`;
    case 2:
      return random.pick([
        '{1..3}',
        '{c..a}',
        '{01..03}',
        '{1..9..4}',
        '{a}',
        '{}',
        '{,}x',
        '{a,{b,c}}',
        '{a,b',
        'a,b}',
        '{a..}',
        '{1..a}',
        '{-1..1}',
      ]);
    case 3:
      return `$${name}`;
    case 4:
      return `\${${name}${random.pick([':-', '-', ':+', '+'])}${inner()}}`;
    case 5:
      return `\${${name}${random.pick(['#', '##', '%', '%%'])}${random.pick(['a', '*a', '?', '[ab]', '*', inner()])}}`;
    case 6:
      return `\${${name}${random.pick(['/', '//', '/#', '/%'])}${random.pick(['a', 'b', '/', 'rm'])}/${random.pick(['', 'z', '$y'])}}`;
    case 7:
      return `\${${name}${random.pick(['^', '^^', ',', ',,', ':1', ':0:2', ': -1', ':1:-1', '@U', '@L'])}}`;
    case 8:
      return `$((${random.pick(['1+2', '7/2', '-7%3', '2**5', '1<<4', '0x1f', '010', '1?2:3', '!0', '5>3&&2', '~0'])}))`;
    case 9:
      return `$(echo ${words(random, 2)})`;
    case 10:
      return random.pick([
        '${a[0]}',
        '${a[1]}',
        '"${a[@]}"',
        '"${a[*]}"',
        '${a[@]}',
        '"${a[@]:1}"',
        '${a[-1]}',
        '"$@"',
        '"$*"',
        '$1',
        '"${2}"',
        '$#',
      ]);
    default:
      return quoted(random, depth);
  }
}

function quoted(random: Random, depth: number): string {
  const inside = (): string => piece(random, Math.max(0, depth - 1));
  switch (random.below(5)) {
    case 0:
      return single(random.pick(['', ' ', 'a b', '$x', '\\n', '"', '`', '{a,b}', '*', inside()]));
    case 1:
      return `$'${random.pick(['', 'a', ' '])}${random.pick(ESCAPES)}${random.pick(['', 'b', '1', random.pick(ESCAPES)])}'`;
    case 2:
      return `$"${random.pick(['', 'a b', '$x', "'"])}"`;
    case 3:
      return `"${random.pick(['', ' ', '$x', '${y}', '\\$x', '\\"', '\\a', '\\\n', "'", '$(echo a  b)', '`echo c`', '~', '{a,b}', '${none:-a b}', '${x:+"q r"}'])}"`;
    default:
      return `\`echo ${random.pick(['a', '"b c"', "'d'", '\\\\$x', '$x', '\\`echo e\\`'])}\``;
  }
}

function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: shell text
