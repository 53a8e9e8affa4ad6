import { expect, test } from 'vitest';
import { shownArguments } from './shown-arguments.ts';

test('one member a line, and no text passes for another argument', () => {
  expect(shownArguments({ path: 'a.txt', content: 'one\npath: /etc/passwd\n', mode: 7, 'x\ny': null })).toBe(
    ['path: a.txt', 'content: 3 lines', '  | one', '  | path: /etc/passwd', '  | ', 'mode: 7', 'x\\ny: null'].join('\n'),
  );
});

test.each([
  [[1, 'a'], '[1,"a"]'],
  ['text', '"text"'],
  [undefined, ''],
  [{}, ''],
])('%j is %s', (raw, shown) => {
  expect(shownArguments(raw)).toBe(shown);
});
