import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, mayBe } from './glob.ts';
import { assessCommand } from './index.ts';
import { CLOSE, HOLE, ONE, OPEN, SOME, STAR } from './text.ts';

/** The same patterns as regular expressions, which say the same where they come to an end. */
const AS_REGEX: readonly (readonly [string, string])[] = [
  [HOLE, '.*'],
  [STAR, '[^/]*'],
  [ONE, '[^/]'],
  [SOME, '[^/.]+'],
  [`${OPEN}ab${CLOSE}`, '[ab]'],
  [`${OPEN}!a${CLOSE}`, '[^a]'],
  [`${OPEN}a-c/${CLOSE}`, '[a-c/]'],
  ['a', 'a'],
  ['.', '\\.'],
  ['/', '/'],
];
const pattern = fc
  .array(fc.constantFrom(...AS_REGEX), { maxLength: 6 })
  .map((parts) => ({ glob: parts.map(([glob]) => glob).join(''), regex: parts.map(([, regex]) => regex).join('') }));
const word = fc.array(fc.constantFrom(...'aabc./'), { maxLength: 8 }).map((chars) => chars.join(''));

describe('a glob', () => {
  it('matches what the same regular expression matches, whole, at the beginning and at the end', () => {
    fc.assert(
      fc.property(pattern, word, ({ glob, regex }, text) => {
        const whole = new RegExp(`^${regex}$`, 's');
        const cuts = Array.from({ length: text.length + 1 }, (_, i) => i);
        const compiled = compileGlob(glob, false);
        expect(compiled.matches(text)).toBe(whole.test(text));
        expect(compiled.beginnings(text)).toEqual(cuts.filter((i) => whole.test(text.slice(0, i))));
        expect(compiled.ends(text)).toEqual(cuts.filter((i) => whole.test(text.slice(text.length - i))));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has no more steps than a name of that length needs, however long it is', () => {
    const many = compileGlob(`${HOLE.repeat(5_000)}${STAR}${`${HOLE}${STAR}`.repeat(5_000)}x`, false);
    expect(many.cost(10)).toBe(20);
    expect(many.matches('secretx')).toBe(true);
    expect(many.matches('secret')).toBe(false);
    expect(compileGlob(`${STAR}a`.repeat(5_000), false).cost(100)).toBe(1);
  });

  it('stands for names', () => {
    expect(mayBe(`id_${STAR}`)('id_rsa')).toBe(true);
    expect(mayBe(`${OPEN}[:alpha:]${CLOSE}d_rsa`)('id_rsa')).toBe(true);
    expect(mayBe(`${OPEN}z-a${CLOSE}d_rsa`)('id_rsa')).toBe(true);
    expect(mayBe(`${OPEN}x${CLOSE}d_rsa`)('id_rsa')).toBe(false);
    expect(mayBe(`${ONE}d_rs`)('id_rsa')).toBe(false);
  });
});

describe('patterns that a regular expression would not come to an end with', () => {
  const context = {
    cwd: '/home/dev/app',
    home: '/home/dev',
    workspaces: ['/home/dev/app'],
    facts: { realpath: (path: string) => path, which: () => undefined },
  };
  it.each([
    ['unknown variables in a path', `cat src/secrets/${'$x'.repeat(2_000)}key.ts`],
    ['stars in a path', `rm ~/.${'*s'.repeat(2_000)}z`],
    ['stars taken from the front', `x=${'a'.repeat(500)}; echo \${x##${'*a'.repeat(200)}b}`],
    ['stars taken from the end', `x=${'a'.repeat(500)}; echo \${x%%${'*a'.repeat(200)}b}`],
  ])('%s', (_name, text) => {
    expect(assessCommand(text, context).unparseable).toBeUndefined();
  });
});
