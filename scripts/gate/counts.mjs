import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** @typedef {{ passed: number, failed: number, skipped: number, skippedNames: string[] }} Counts */

/** @type {Counts} */
export const NOTHING = { passed: 0, failed: 0, skipped: 0, skippedNames: [] };

/** @returns {Counts} */
export function add(a, b) {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    skippedNames: [...a.skippedNames, ...b.skippedNames],
  };
}

/** Reads vitest's JSON report of tests in the folder `base`. A file that could not be loaded has no tests and counts as one failure. */
export function readCounts(path, base) {
  if (!existsSync(path)) return NOTHING;
  const files = JSON.parse(readFileSync(path, 'utf8')).testResults;
  return files.map((file) => countFile(file, base)).reduce(add, NOTHING);
}

function countFile({ name, status, assertionResults }, base) {
  const of = (...states) => assertionResults.filter((test) => states.includes(test.status));
  const skipped = of('skipped', 'pending', 'todo', 'disabled');
  const failed = of('failed').length;
  return {
    passed: of('passed').length,
    failed: failed === 0 && status === 'failed' ? 1 : failed,
    skipped: skipped.length,
    skippedNames: skipped.map((test) => `${relative(base, name)}: ${test.fullName}`),
  };
}

/** A run that ended badly, or ran nothing, has failed even if no single test did. */
export function ran(code, counts) {
  const bad = code !== 0 || counts.passed === 0;
  return bad && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}
