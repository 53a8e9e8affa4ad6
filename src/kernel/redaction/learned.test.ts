import { expect, test } from 'vitest';
import { createRedactor } from './index.ts';
import { MAX_OF_SOURCE, MAX_SOURCES } from './learned.ts';

const SECRET = 'korrekt-Pferd-42';

test('what is learned holds at once: for names and values, for streams under way, for whoever was made of the same one', () => {
  const one = createRedactor({ known_values: ['first-known-77'] });
  const other = one.with(['second-known-88']);
  const stream = other.stream();
  const begun = stream.push(`a ${SECRET} b `.repeat(3).slice(0, 30));
  expect(one.value({ [SECRET]: SECRET })).toEqual({ [SECRET]: SECRET });
  one.learn('server x', [SECRET]);
  expect(one.value({ [SECRET]: [SECRET] })).toEqual({ '[redacted:known_value]': ['[redacted:known_value]'] });
  expect(begun + stream.push(` and ${SECRET}`) + stream.flush()).toMatch(/ and \[redacted:known_value\]$/);
  expect(other.text(`first-known-77 second-known-88 ${Buffer.from(SECRET).toString('hex')}`)).toBe(
    '[redacted:known_value] [redacted:known_value] [redacted:known_value]',
  );
  expect(one.text('second-known-88')).toBe('second-known-88');
});

test('what may not change otherwise loses only what is known', () => {
  const redactor = createRedactor();
  redactor.learn('x', [SECRET]);
  const open = { url: 'https://a.example/?token=aaaa0000bbbb1111', password: 'hunter2-hunter2', text: 'ghp_aaaa0000bbbb1111cccc' };
  expect(redactor.known.value(open)).toBe(open);
  expect(redactor.known.value({ ...open, more: `is ${SECRET}` })).toEqual({ ...open, more: 'is [redacted:known_value]' });
});

test('a source keeps its newest values, and there are only so many sources', () => {
  const redactor = createRedactor();
  const token = (n: number): string => `rotated-Token-${n}-x`;
  redactor.learn('server', [SECRET]);
  for (let n = 0; n <= MAX_OF_SOURCE; n++) redactor.learn('login', [token(n)]);
  expect(redactor.text(`${SECRET} ${token(0)} ${token(1)}`)).toBe(`[redacted:known_value] ${token(0)} [redacted:known_value]`);
  for (let n = 1; n < MAX_SOURCES; n++) redactor.learn(`server ${n}`, [`of-server-${n}-y`]);
  expect(redactor.text(SECRET)).toBe(SECRET);
});
