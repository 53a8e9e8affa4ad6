import { expect, test } from 'vitest';
import { createRedactor } from './index.ts';
import { MAX_OF_SOURCE, MAX_SOURCES } from './learned.ts';

const SECRET = 'korrekt-Pferd-42';
const ODD = `a"b c&d<für'1`;

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

test.each([
  ['JSON in JSON', JSON.stringify(JSON.stringify(ODD))],
  ['JSON in ASCII', `"a\\"b c&d<f\\u00fcr'1"`],
  ['JSON of Go', `"a\\"b c\\u0026d\\u003cfür'1"`],
  ['HTML', '<p>a&quot;b c&amp;d&lt;für&#39;1</p>'],
  ['an address', `https://x.example/${encodeURIComponent(ODD)}`],
  ['a form', new URLSearchParams({ q: ODD }).toString()],
  ['hexadecimal', Buffer.from(ODD).toString('hex')],
])('it is found in %s', (_where, text) => {
  const redactor = createRedactor();
  redactor.learn('x', [ODD]);
  expect(redactor.text(text)).toContain('[redacted:known_value]');
  expect(redactor.text(text)).not.toContain('b c');
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
