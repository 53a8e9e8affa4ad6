import { describe, expect, it } from 'vitest';
import { type AssessContext, assessCommand } from '../index.ts';

const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shell text
/** A substitution, and a word that its `mark` command must be seen with, however the text around it is cut. */
const SUBSTITUTIONS: readonly (readonly [string, string])[] = [
  ['$(mark /a:b)', '/a:b'],
  ['`mark /a:b`', '/a:b'],
  ['$(mark "/a}b")', '/a}b'],
  ['$(mark "a]b")', 'a]b'],
  ["$(mark ')' x)", ')'],
  ['$(mark a; mark /q)', '/q'],
  ['$( (mark /s) )', '/s'],
  ['${ mark /v; }', '/v'],
];

/** Where a substitution may stand in a word: `@`. */
const WORDS =
  '@ "@" x@ {a,@} {a,"@"}b x{1..2}@ ${u:-@} "${u:-@}" ${u:=@} ${u:+@} ${u:?@} ${u#@} ${u##@} ${u%@} ${u%%@} ${u/@/} ${u/@/b} ${u/a/@} ${u//@} ${u/#@/x} ${u/%@/x} "${u/@/}" "${u/a/@}" ${u^@} ${u,,@} ${u:@} ${u:1:@} ${u:@:1} ${u[@]} "${u[@]}" $((@)) $((1+@*2)) $[@] $((a[@])) <(@) ~@ @(a|b)@ ?(@) [@] [[@]] a=@ =@'
    .split(' ')
    .concat('"a @ b"', '>(cat @)');

/** Where a word may stand in a script: `#`. */
const SCRIPTS = [
  ...'echo #|x=#|x=( # )|x=(#)b|x=(a)#|x+=(#)b|declare x=(#)b|x=([#]=1)|x[#]=1|x+=#|declare y=#|export y=#|local y=#|readonly y=#|cat <<< #|cat < #|cat > #|cat >> #|cat >& #|cat &> #|cat <> #|exec 3< #|exec {fd}> #'.split(
    '|',
  ),
  'cat <<E\n#\nE',
  'cat <<-E\n\t#\n\tE',
  'cat <<A <<B\n#\nA\n#\nB',
  'for i in #; do :; done',
  'for ((i=#; i<#; i++)); do :; done',
  'case # in a) ;; esac',
  'case a in #) ;; esac',
  'select i in #; do break; done',
  '[[ # ]]',
  '[[ -f # ]]',
  '[[ a == # ]]',
  '[[ ! ( a && # ) ]]',
  '(( # ))',
  '(( a[#] ))',
  'if echo #; then :; fi',
  'if :; then echo #; fi',
  'if :; then :; else echo #; fi',
  'if :; then :; elif echo #; then :; fi',
  'while echo #; do :; done',
  'until :; do echo #; done',
  '{ echo #; }',
  '( echo # )',
  'f() { echo #; }; f',
  'f() { echo #; }',
  'f() { :; } > #; f',
  'coproc { echo #; }',
  '! echo #',
  'time echo #',
  'echo # | cat',
  'cat | echo #',
  'false && echo #',
  'true || echo #',
  'exit; echo #',
  'echo #&',
  'x=1 y=# z',
  'eval echo "#"',
  "eval 'echo #'",
  "bash -c 'echo #'",
  'sudo echo #',
  'xargs echo #',
  'find . -exec echo # \\;',
  'echo $(echo #)',
  'echo "$(echo "#")"',
  'printf -v # x',
  'test -v #',
  'read #',
  'let #',
  'unset #',
  'command echo #',
  'echo a # c\necho #',
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: shell text

describe('a command in a substitution is seen', () => {
  it.each(SCRIPTS)('%s', (script) => {
    const lost: string[] = [];
    for (const word of WORDS) {
      for (const [substitution, expected] of SUBSTITUTIONS) {
        const text = script.replaceAll('#', () => word.replaceAll('@', () => substitution));
        const { commands, unparseable } = assessCommand(text, context);
        if (unparseable !== undefined) continue;
        if (!commands.some(({ argv }) => argv[0] === 'mark' && argv.includes(expected))) lost.push(text);
      }
    }
    expect(lost).toEqual([]);
  });
});
