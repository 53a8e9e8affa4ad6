import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scanJson, scanText } from './scan.ts';

interface Case {
  readonly id: string;
  readonly text: string;
  readonly where: string;
  readonly expect: 'flag' | 'pass';
  readonly retired?: string;
}
const cases = readFileSync(new URL('../../../test/corpora/injection.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter(({ retired }) => retired === undefined);

const kindsOf = ({ where, text }: Case): readonly string[] =>
  (where === 'schema' ? scanJson(JSON.parse(text)) : scanText(text)).map(({ kind, excerpt }) => `${kind}: ${excerpt}`);

test('no order of the case file is missed', () => {
  expect(cases.filter((each) => each.expect === 'flag').length).toBe(60);
  expect(cases.filter((each) => each.expect === 'flag' && kindsOf(each).length === 0).map(({ id, text }) => ({ id, text }))).toEqual([]);
});

test('no honest text of the case file is flagged', () => {
  expect(cases.filter((each) => each.expect === 'pass').length).toBe(33);
  const flagged = cases.filter((each) => each.expect === 'pass').map((each) => ({ id: each.id, found: kindsOf(each) }));
  expect(flagged.filter(({ found }) => found.length > 0)).toEqual([]);
});
