import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-diff-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What git makes of the diff. */
function applied(before: string, diff: string): string {
  writeFileSync(join(folder, 'f'), before);
  execFileSync('git', ['apply', '--whitespace=nowarn', '-p1', '-'], {
    cwd: folder,
    input: diff,
    env: { PATH: '/usr/bin:/bin', GIT_CEILING_DIRECTORIES: tmpdir() },
  });
  return readFileSync(join(folder, 'f'), 'utf8');
}

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

describe('a diff', () => {
  test('has context, hunks and counts', () => {
    const before = numbered(40);
    const after = before.replace('line 5\n', 'five\n').replace('line 30\n', 'line 30\nmore\n');
    const diff = unifiedDiff('src/x.ts', before, after);
    expect(diff).toMatchObject({ added: 2, removed: 1 });
    expect(diff.text.split('\n').filter((line) => line.startsWith('@@'))).toEqual(['@@ -3,7 +3,7 @@', '@@ -29,6 +29,7 @@']);
    expect(diff.text).toContain('--- a/src/x.ts\n+++ b/src/x.ts\n');
  });

  test('nothing changed: nothing said', () => {
    expect(unifiedDiff('f', 'a\n', 'a\n')).toEqual({ text: '', added: 0, removed: 0, too_large: false });
  });

  test.each([
    ['a\nb', 'a\nb\n'],
    ['a\nb\n', 'a\nb'],
    ['', 'a\n'],
    ['x\r\ny\r\n', 'x\r\nz\r\n'],
    ['x\nx\nx\n', 'x\nx\n'],
  ])('git applies it: %j to %j', (before, after) => {
    expect(applied(before, unifiedDiff('f', before, after).text)).toBe(after);
  });

  test('git applies whatever was changed', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', '', 'long line', '}'), { maxLength: 30 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { text: diff } = unifiedDiff('f', before, after);
        // git has no diff that makes a file empty without deleting it.
        if (before !== after && before !== '' && after !== '') expect(applied(before, diff)).toBe(after);
      }),
      { numRuns: 40 },
    );
  });

  test('a change deep in a large file is found where it is', () => {
    const before = `${numbered(200_000)}tail`;
    const after = before.replace('line 150000\n', 'changed\n');
    const diff = unifiedDiff('f', before, after);
    expect(diff.text).toContain('@@ -149998,7 +149998,7 @@');
    expect(applied(before, diff.text)).toBe(after);
  });

  test('a large rewrite is counted and not compared', () => {
    expect(unifiedDiff('f', 'x\n'.repeat(100_000), 'x\ny\n'.repeat(100_000))).toMatchObject({
      added: expect.any(Number),
      removed: expect.any(Number),
    });
    const diff = unifiedDiff('f', 'a\n'.repeat(3_000_000), 'b\n'.repeat(3_000_000));
    expect(diff).toEqual({ text: '', added: 3_000_000, removed: 3_000_000, too_large: true });
  });
});
