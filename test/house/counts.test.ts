import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly skippedNames: readonly string[];
}
const module = (await import(resolve(import.meta.dirname, '../../scripts/gate/counts.mjs'))) as {
  readCounts(path: string, base: string): Counts;
  ran(code: number, counts: Counts): Counts;
};
const folder = mkdtempSync(join(tmpdir(), 'writ-counts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function count(code: number, testResults: readonly object[] | undefined): Counts {
  const path = join(folder, 'tests.json');
  rmSync(path, { force: true });
  if (testResults !== undefined) writeFileSync(path, JSON.stringify({ testResults }));
  return module.ran(code, module.readCounts(path, '/base'));
}
const tests = (...statuses: readonly string[]): object[] => statuses.map((status, index) => ({ status, fullName: `t${index}` }));

test('passed, failed and skipped are summed over files, skipped ones by name', () => {
  const files = [
    { name: '/base/a.test.ts', status: 'passed', assertionResults: tests('passed', 'skipped', 'todo') },
    { name: '/base/b.test.ts', status: 'failed', assertionResults: tests('failed', 'passed', 'failed') },
  ];
  expect(count(1, files)).toEqual({ passed: 2, failed: 2, skipped: 2, skippedNames: ['a.test.ts: t1', 'a.test.ts: t2'] });
});

test('a file that could not be loaded is a failure', () => {
  expect(count(1, [{ name: '/base/a.test.ts', status: 'failed', assertionResults: [] }]).failed).toBe(1);
});

test.each([
  ['a crash without a report', 1, undefined],
  ['no test at all', 0, []],
  ['a bad end although every test passed', 1, [{ name: '/base/a.test.ts', status: 'passed', assertionResults: tests('passed') }]],
])('%s is a failure', (_, code, files) => {
  expect(count(code, files).failed).toBe(1);
});
