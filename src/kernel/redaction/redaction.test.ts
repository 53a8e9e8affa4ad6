import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './index.ts';

interface Case {
  readonly id: string;
  readonly text: string;
  readonly expect_absent: readonly string[];
  readonly expect_present: readonly string[];
  readonly retired?: string;
}

const cases = ['redaction.jsonl', 'redaction-extra.jsonl'].flatMap((file) =>
  readFileSync(new URL(`../../../test/corpora/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Case => JSON.parse(line))
    .filter((one) => one.retired === undefined),
);

describe('the corpus', () => {
  const redactor = createRedactor();
  test.each(cases.map((one) => [one.id, one] as const))('%s', (_id, { text, expect_absent, expect_present }) => {
    const out = redactor.text(text);
    for (const secret of expect_absent) expect(out).not.toContain(secret);
    for (const honest of expect_present) expect(out).toContain(honest);
    if (expect_absent.length === 0) expect(out).toBe(text);
    expect(redactor.text(out)).toBe(out);
  });
});
