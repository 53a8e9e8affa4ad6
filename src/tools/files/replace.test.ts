import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Edit, replace } from './replace.ts';

interface Case extends Edit {
  readonly id: string;
  readonly original: string;
  readonly expect: { readonly result?: string; readonly error?: string };
  readonly stage: string | null;
  readonly retired?: string;
}

const cases = readFileSync(new URL('../../../test/corpora/patch.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter((one) => one.retired === undefined);

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const edited = (original: string, edit: Partial<Edit>): ReturnType<typeof replace> =>
  replace(bytes(original), {
    old_string: bytes(edit.old_string ?? ''),
    new_string: bytes(edit.new_string ?? ''),
    replace_all: edit.replace_all ?? false,
  });
const textOf = (result: ReturnType<typeof replace>): string | undefined =>
  result.ok ? Buffer.from(result.text, 'latin1').toString('utf8') : undefined;

test.each(cases)('$id', (one) => {
  const result = edited(one.original, one);
  if (one.expect.error !== undefined) expect(result).toMatchObject({ ok: false, reason: one.expect.error });
  else {
    expect(textOf(result)).toBe(one.expect.result);
    expect(result).toMatchObject({ stage: one.stage });
  }
});

test('all cases are run', () => {
  expect(cases.length).toBe(62);
});

describe('beyond the cases', () => {
  test('bytes that are no UTF-8 stay as they are', () => {
    const result = replace('caf\u00e9 = 1\nx = 2\n', { old_string: 'x = 2', new_string: 'x = 3', replace_all: false });
    expect(result).toMatchObject({ ok: true, text: 'caf\u00e9 = 1\nx = 3\n' });
  });

  test('a new line below the level of the block goes down as far in the file', () => {
    const result = edited('class A:\n        def f(self):\n            return 1\n', {
      old_string: '    def f(self):\n        return 1\n',
      new_string: '    def f(self):\n        return 2\n\ndef g():\n    pass\n',
    });
    expect(textOf(result)).toBe('class A:\n        def f(self):\n            return 2\n\n    def g():\n        pass\n');
  });

  test('steps of two become steps of four', () => {
    const result = edited('if a:\n    b()\n    if c:\n        d()\n', {
      old_string: 'if a:\n  b()\n  if c:\n    d()\n',
      new_string: 'if a:\n  b()\n  if c:\n    e()\n    if f:\n      g()\n',
    });
    expect(textOf(result)).toBe('if a:\n    b()\n    if c:\n        e()\n        if f:\n            g()\n');
  });

  test('a last line without an ending keeps having none', () => {
    expect(textOf(edited('a\nfoo  ', { old_string: 'foo\n', new_string: 'bar\n' }))).toBe('a\nbar');
  });

  test('blank lines alone are never taken for others', () => {
    expect(edited('a\n\nb\n', { old_string: '  \n', new_string: 'x\n' })).toMatchObject({ ok: false, reason: 'not_found' });
  });

  test('places are named by their lines', () => {
    expect(edited('x\ny\nx\n', { old_string: 'x\n', new_string: 'z\n' })).toMatchObject({ reason: 'not_unique', lines: [1, 3], places: 2 });
  });

  test('repetitive text costs no more than other text', () => {
    const text = 'a'.repeat(2_000_000);
    expect(edited(text, { old_string: `${'a'.repeat(200_000)}b`, new_string: 'x' })).toMatchObject({ reason: 'not_found' });
    const lines = 'a\n'.repeat(500_000);
    expect(edited(lines, { old_string: `${' a \n'.repeat(50_000)}b\n`, new_string: 'x' })).toMatchObject({ reason: 'not_found' });
  });
});

describe('whatever is edited', () => {
  const unit = fc.constantFrom('  ', '    ', '\t');
  const levels = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 12 });

  test('a block written with another indentation and other line endings is found, and only it changes', () => {
    fc.assert(
      fc.property(unit, unit, levels, fc.nat(), fc.nat(), fc.boolean(), (file, written, depths, at, size, crlf) => {
        const from = at % depths.length;
        const to = Math.min(depths.length, from + 1 + (size % 4));
        const block = depths.slice(from, to);
        const least = Math.min(...block);
        const ending = crlf ? '\r\n' : '\n';
        // Each line is told apart by its number; the last of the block gets a new one.
        const inFile = (last: string): string =>
          depths.map((depth, i) => `${file.repeat(depth)}line ${i === to - 1 ? last : `${i}.`}${ending}`).join('');
        const asWritten = (last: string): string =>
          block.map((depth, i) => `${written.repeat(depth - least)}line ${from + i === to - 1 ? last : `${from + i}.`}\n`).join('');
        const result = edited(inFile('old'), { old_string: asWritten('old'), new_string: asWritten('new') });
        expect(textOf(result)).toBe(inFile('new'));
      }),
      { numRuns: 200 },
    );
  });

  test('an exact edit is what string replacement does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '界'), maxLength: 30 });
    fc.assert(
      fc.property(text, text, text, text, (before, old, fresh, after) => {
        const original = `${before}${old}${after}`;
        fc.pre(old !== '' && original.split(old).length === 2 && original.indexOf(old) === original.lastIndexOf(old) && old !== fresh);
        expect(textOf(edited(original, { old_string: old, new_string: fresh }))).toBe(original.replace(old, () => fresh));
      }),
      { numRuns: 300 },
    );
  });
});
