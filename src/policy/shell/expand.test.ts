// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { describe, expect, it } from 'vitest';
import { assessCommand } from '../assess.ts';

/** The words that `show` gets first, as bash 5.2 gives them. Null: left open. */
function shown(script: string): readonly (string | null)[] | undefined {
  const { commands } = assessCommand(script, {
    cwd: '/home/dev/app',
    home: '/home/dev',
    workspaces: ['/home/dev/app'],
    facts: { realpath: (path) => path, which: () => undefined },
  });
  return commands.find(({ argv }) => argv[0] === 'show')?.argv.slice(1);
}

describe('lists and IFS', () => {
  it.each([
    ['a=("" x "" y); IFS=,; show ${a[@]}', ['', 'x', '', 'y']],
    ['a=("" x "" y); IFS=,; show p${a[@]}q', ['p', 'x', '', 'yq']],
    ['a=(x, y); IFS=,; show ${a[*]}', ['x', '', 'y']],
    ['a=(x "" y ""); IFS=; show ${a[@]}', ['x', 'y']],
    ['a=("x y" "" y ""); unset IFS; show ${a[*]}z', ['x', 'y', 'y', 'z']],
    ['set -- "x," "" y ""; IFS=,; show "$*" "$@"', ['x,,,y,', 'x,', '', 'y', '']],
    ['set -- "x," "" y ""; IFS=,; v=$*; show "$v"', ['x,,,y,']],
    ['set -- "x," "" y ""; IFS=,; v=$@; show "$v"', ['x,  y ']],
    ['IFS=" ,"; a=("x " ", y" "" z); show ${a[@]}', ['x', 'y', 'z']],
    ['IFS=", "; a=("x " ", y" "" z); show ${a[@]}', ['x', '', 'y', '', 'z']],
    ['IFS=" ,"; v="x "; w=", y"; show $v""$w', ['x', '', 'y']],
    ['a=(x y); a=z; show "${a[@]}"', ['z', 'y']],
    ['set -- "a b" c; show "${@:-x}" p"${@:-x}"q', ['a b', 'c', 'pa b', 'cq']],
    ['if [ -e f ]; then IFS=,; fi; v=a; show $v', ['a']],
  ])('%s', (script, words) => {
    expect(shown(script)).toEqual(words);
  });
});

describe('braces', () => {
  it.each([
    ['{a..}.a,b} {a}b,c} {{a},b} {a{b}c,d}', ['a..}.a', 'b', 'a}b', 'c', '{a}', 'b', 'a{b}c', 'd']],
    ['{a..{b,c}} {}a,b} {a,b}}c} {a,{b}c}', ['a..b', 'a..c', '{}a,b}', 'a}c}', 'b}c}', 'a', '{b}c']],
    ['{a..b}c,d} {{a,b}..c} {"a,b"..c}', ['ac,d}', 'bc,d}', 'a..c', 'b..c', 'a,b..c']],
    ['"`echo "{a,b}"`" "{a,b}" \'{a,b}\'', ['a', 'b', '{a,b}', '{a,b}']],
    ["{#a,b} {x=1,y} {$'}',a}", ['#a', 'b', 'x=1', 'y', '}', 'a']],
    ["'\\\n'{1.\\\n.3}", ['\\\n1', '\\\n2', '\\\n3']],
    ['{} {,} {a} {a,b', ['{}', '{a}', '{a,b']],
  ])('%s', (words, given) => {
    expect(shown(`show ${words}`)).toEqual(given);
  });

  it('are expanded by declare, and not by an assignment', () => {
    expect(shown('x={a\\,,b}; declare y={a,b} z=c{1..2}; show "$x" "$y" "$z"')).toEqual(['{a,,b}', 'b', 'c2']);
  });

  it.each(['{'.repeat(3_000), '{a,b}'.repeat(20), '{a..'.repeat(2_000), '{1..1000000}'])('end in bounded time', (word) => {
    expect(shown(`show ${word}`)).toHaveLength(1);
  });
});

describe('tildes', () => {
  it.each([
    ['~=~ ~=~x ~=x ~:x ~+=~', ['/home/dev=~', '/home/dev=~x', '~=x', '/home/dev:x', '/home/dev/app=~']],
    [
      'a=~ A_B\\\n=\\\n~ k=b:~ {a,k=}~ {k=~,b} {~,b}',
      ['a=/home/dev', 'A_B=/home/dev', 'k=b:/home/dev', 'a~', 'k=~', 'k=~', 'b', '/home/dev', 'b'],
    ],
    ['k=~=~', [null]],
  ])('%s', (words, given) => {
    expect(shown(`show ${words}`)).toEqual(given);
  });

  it('of an assignment', () => {
    expect(shown('x=a=~; y=~=~; z=a:~=~:~; show "$x" "$y" "$z"')).toEqual(['a=~', '~=~', 'a:~=~:/home/dev']);
  });
});

describe('what is left open', () => {
  it.each([
    ['the & of a replacement, which newer versions of bash take for what was found', 'x=ab; show ${x/a/&c}'],
    ['a backslash in a replacement', "x=ab; y='\\'; show ${x/a/$y$y}"],
    ['how an unknown IFS splits', 'IFS=$none; x="a b"; show $x'],
  ])('%s', (_what, script) => {
    const all = assessCommand(script, {
      cwd: '/w',
      home: '/h',
      workspaces: ['/w'],
      facts: { realpath: (path) => path, which: () => undefined },
    });
    expect(all.commands.some(({ argv }) => argv.includes(null))).toBe(true);
    expect(all.commands.length).toBeGreaterThan(1);
  });
});
