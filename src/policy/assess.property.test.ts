import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stricter } from './defaults.ts';
import { type AssessContext, assessCommand, decide, type PolicyConfig, type Verdict } from './index.ts';

const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};
const policy: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
const verdictOf = (text: string): Verdict => decide(assessCommand(text, context), policy).verdict;

const corpus = ['commands.jsonl', 'commands-extra.jsonl'].flatMap((name) =>
  readFileSync(new URL(`../../test/corpora/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { command?: string; retired?: string; unparseable?: boolean }),
);
const commands = corpus.flatMap(({ command, retired, unparseable }) =>
  command !== undefined && !retired && !unparseable ? [command] : [],
);
const command = fc.constantFrom(...commands);

/** Here-documents end at the end of a line, so what is added after one starts a new line. */
const after = (text: string): string => (text.includes('<<') || text.includes('#') ? `${text}\n` : text);
/** Text that leaves the meaning of the command alone and adds to it. */
const added: readonly (readonly [string, (text: string) => string])[] = [
  ['; true', (text) => `${after(text)}${after(text) === text ? '; true' : 'true'}`],
  ['newline', (text) => `${text}\necho done\n`],
  ['leading newline', (text) => `\n\n${text}`],
  ['prefix ;', (text) => `true; ${text}`],
  ['prefix &&', (text) => `true && ${text}`],
  ['prefix ||', (text) => `false || ${text}`],
  ['prefix reading', (text) => `ls -la; cat README.md\n${text}`],
  ['unknown before', (text) => `frobnicate --now; ${text}`],
  ['comment', (text) => `# nothing to see\n${text}`],
  ['group', (text) => `{ ${after(text)}\n}`],
  ['subshell', (text) => `( ${after(text)}\n)`],
  ['if', (text) => `if true; then ${after(text)}\nfi`],
  ['loop', (text) => `for i in 1 2; do ${after(text)}\ndone`],
  ['never reached', (text) => `exit 0; ${text}`],
  ['bash -c', (text) => `bash -c '${text.replaceAll("'", `'\\''`)}'`],
  ['eval', (text) => `eval '${text.replaceAll("'", `'\\''`)}'`],
  ['background', (text) => `{ ${after(text)}\n} &`],
  ['into a pipe', (text) => `{ ${after(text)}\n} | cat`],
  ['function', (text) => `run() { ${after(text)}\n}; run`],
  ['substitution', (text) => `echo "$(${after(text)}\n)"`],
];

describe('adding text', () => {
  for (const [name, add] of added) {
    it(`never makes a verdict milder: ${name}`, () => {
      const milder = commands.filter((text) => stricter(verdictOf(text), verdictOf(add(text))));
      expect(milder.map(add)).toEqual([]);
    });
  }

  it('never makes a verdict milder: any two commands in a row', () => {
    // A command that changes the shell itself (cd, variables, functions) may rightly change what the next one means.
    const plain = commands.filter(
      (text) => !/\b(cd|pushd|popd|export|alias|set|unset|declare|read|source|exec|function|exit)\b|=|\(\)|<<|#|^\s*\.|\\$/.test(text),
    );
    // Nor may the first write what the second reads: then more is known about the second.
    const quiet = plain.filter((text) => !assessCommand(text, context).effects.includes('local_write'));
    fc.assert(
      fc.property(
        fc.constantFrom(...quiet),
        fc.constantFrom(...plain),
        fc.constantFrom('; ', '\n', ' && ', ' || ', ' & '),
        (first, second, between) => {
          const both = verdictOf(`${first}${between}${second}`);
          return !stricter(verdictOf(first), both) && !stricter(verdictOf(second), both);
        },
      ),
      { numRuns: 800 },
    );
  });
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shell text
describe('any text', () => {
  const pieces = fc.constantFrom(
    ...'; | & && || ( ) { } < > >> << <<- <<< $( ) ` " \' \\ $ ${ } $(( )) [[ ]] if then fi for in do done while case esac ;; function x=1 rm -rf / ~ * ? [ ] ! # \n \t \r \0 {a,b} {1..9} a b sh -c eval /dev/tcp/h/1 $x "$@" \uFDD0 \uFDD4 \uD800 é $\'\\x41\''.split(
      ' ',
    ),
    ' ',
  );
  const soup = fc.array(fc.oneof(pieces, fc.string({ maxLength: 6 }), command), { maxLength: 24 }).map((parts) => parts.join(''));

  it('is judged without throwing, and every span lies inside it', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const assessment = assessCommand(text, context);
        const { findings, commands: parsed } = assessment;
        const inside = findings.every(({ span: [start, end] }) => start >= 0 && start <= end && end <= text.length);
        const owned = findings.every(({ command: index }) => index === undefined || parsed[index] !== undefined);
        const wrapped = parsed.every(({ outer }) => outer === undefined || parsed[outer.command] !== undefined);
        return inside && owned && wrapped && JSON.stringify(JSON.parse(JSON.stringify(assessment))) === JSON.stringify(assessment);
      }),
      { numRuns: 1_200 },
    );
  });

  it('gives the same answer twice', () => {
    fc.assert(
      fc.property(soup, (text) => {
        expect(assessCommand(text, context)).toEqual(assessCommand(text, context));
      }),
      { numRuns: 300 },
    );
  });
});

describe('hostile sizes', () => {
  const shapes: readonly (readonly [string, string])[] = [
    ['substitutions in substitutions', `${'echo $('.repeat(5_000)}x${')'.repeat(5_000)}`],
    ['groups in groups', `${'{ '.repeat(5_000)}x;${' }'.repeat(5_000)}`],
    ['subshells in subshells', `${'( '.repeat(5_000)}x${' )'.repeat(5_000)}`],
    ['arithmetic in arithmetic', `echo $((${'('.repeat(5_000)}1${')'.repeat(5_000)}))`],
    ['ifs in ifs', `${'if true; then '.repeat(3_000)}x${'; fi'.repeat(3_000)}`],
    ['loops in loops', `${'for i in 1 2 3 4 5 6 7 8 9; do '.repeat(12)}x${'; done'.repeat(12)}`],
    ['functions that call each other', `${Array.from({ length: 40 }, (_, i) => `f${i}() { f${i + 1}; f${i + 1}; }`).join('; ')}; f0`],
    ['a function with growing arguments', 'f() { f "$1$1" "$@"; f "$@" x; }; f a'],
    ['doubling a variable', `x=aaaaaaaaaa; ${'x=$x$x; '.repeat(60)}echo $x`],
    ['doubling an array', `a=(1 2); ${'a+=("${a[@]}"); '.repeat(40)}echo "\${a[@]}"`],
    ['brace products', `echo ${'{a,b}'.repeat(40)}`],
    ['brace ranges', 'echo {1..999999999}'],
    ['evals in evals', `${"eval '".repeat(1)}${'eval eval '.repeat(2_000)}x'`],
    [
      'many alternatives',
      `${Array.from({ length: 30 }, (_, i) => `if a; then x${i}=1; else x${i}=2; fi; `).join('')}echo ${Array.from({ length: 30 }, (_, i) => `$x${i}`).join('')}`,
    ],
    ['many stages', Array.from({ length: 3_000 }, () => 'cat').join(' | ')],
    ['many commands', 'echo x; '.repeat(30_000)],
    ['one long word', `echo ${'x'.repeat(400_000)}`],
    ['more than the budget', `echo ${'x '.repeat(400_000)}`],
    ['patterns on long values', `x=${'a'.repeat(60_000)}; echo \${x##*(a)} \${x//a/bb} \${x%%a*b}`],
    ['globs of stars', `cat ${'*a'.repeat(300)}`],
    ['slashes', `cat ${'../'.repeat(20_000)}etc/shadow`],
    ['aliases of aliases', `${Array.from({ length: 200 }, (_, i) => `alias a${i}='a${i + 1} '`).join('; ')}; a0 x`],
    ['traps in traps', `${"trap 'trap ".repeat(1)}x EXIT' EXIT`],
    [
      'here-documents',
      `${Array.from({ length: 2_000 }, (_, i) => `cat <<E${i}`).join('; ')}\n${Array.from({ length: 2_000 }, (_, i) => `x\nE${i}`).join('\n')}\n`,
    ],
    ['sed with thousands of commands', `sed '${'s/a/b/;'.repeat(20_000)}' f`],
    ['awk with thousands of strings', `awk '{${'print "a" | "cat";'.repeat(3_000)}}'`],
    ['xargs in xargs', `${'xargs '.repeat(2_000)}rm`],
    ['sudo in sudo', `${'sudo env nice '.repeat(2_000)}rm x`],
  ];

  it.each(shapes)('%s', (_name, text) => {
    const assessment = assessCommand(text, context);
    // Either it is understood, or it is refused; it is never waved through for its size.
    if (assessment.unparseable !== undefined) expect(decide(assessment, policy).verdict).toBe('deny');
  });

  it('what is over a budget is refused, harmless or not', () => {
    expect(verdictOf(`echo ${'x'.repeat(600_000)}`)).toBe('deny');
    expect(verdictOf(`${'echo $('.repeat(300)}x${')'.repeat(300)}`)).toBe('deny');
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: shell text
