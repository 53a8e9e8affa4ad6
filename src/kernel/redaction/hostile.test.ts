import { expect, test } from 'vitest';
import { createRedactor, GROWTH } from './index.ts';
import { SHAPES } from './shapes.ts';

// Whatever a text repeats, a pass is linear: each of these would take hours in a quadratic one. They only have to end.
const MIB = 1024 * 1024;
const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));

const units = [
  ...new Set(SHAPES.map((shape) => shape.triggers[0] ?? '')),
  'password',
  'password=',
  'password="',
  "password='\\",
  'password: ',
  'token.token-token_',
  'a_key ',
  'eyJaaaaaaaa',
  'eyJaaaaaaaa.',
  'eyJ-',
  'sk-aa-',
  'Authorization: ',
  'Bearer ',
  'Cookie: a=',
  'machine a login b ',
  'machine \n',
  'login a password ',
  'curl -u ',
  'mysql -p -p',
  '://',
  '://a:',
  'x://a:b/',
  'x://a:b/@',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----END PRIVATE KEY-----',
  `-----BEGIN PRIVATE KEY-----${'A'.repeat(64)}`,
  `${'A'.repeat(64)}\n-----END PRIVATE KEY-----`,
  'PRIVATE KEY',
  '[redacted:',
  '[redacted:token]',
  '\\',
  '\\n',
  '\u001b[31m',
  '\u001b[',
  '%3D',
  'known-value-',
  '"',
  '=',
  ' ',
  '\n',
  'a',
  '\ud800',
];

const redactor = createRedactor({ known_values: [`${'known-value-'.repeat(7)}X`] });

test.each(units)('256 KiB of %j end', (unit) => {
  const text = filled(unit, MIB / 4);
  expect(redactor.text(text).length).toBeLessThanOrEqual(text.length * GROWTH);
});

test.each(units)('%j repeated is the same twice and in pieces', (unit) => {
  const text = filled(unit, MIB / 16);
  const out = redactor.text(text);
  expect(redactor.text(out)).toBe(out);
  const stream = redactor.stream();
  let streamed = '';
  for (let at = 0; at < text.length; at += 5000) streamed += stream.push(text.slice(at, at + 5000));
  streamed += stream.flush();
  // A stream can't take back key lines it has answered when only the end line shows what they were.
  if (!unit.includes('END')) expect(streamed).toBe(out);
});

test.each([
  ['one quoted value', `password="${'a1'.repeat(8 * MIB)}"`],
  ['one escaped value', `password="${'\\"'.repeat(8 * MIB)}"`],
  ['one token', `ghp_${'a'.repeat(16 * MIB)}`],
  ['one key', `-----BEGIN PRIVATE KEY-----\n${`${'A'.repeat(64)}\n`.repeat(200_000)}`],
  ['one address', `https://${'a'.repeat(16 * MIB)}:b@c`],
])('a very long secret ends and goes: %s', (_name, text) => {
  const out = redactor.text(text);
  expect(out.length).toBeLessThanOrEqual(text.length);
  if (!text.startsWith('https')) expect(out.length).toBeLessThan(200);
});
