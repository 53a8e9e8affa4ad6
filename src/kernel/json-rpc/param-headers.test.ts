import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeHeader, encodeHeader, paramHeadersOf, wrongParamHeader } from './param-headers.ts';

const DECLARED = [
  { name: 'Region', path: ['region'] },
  { name: 'N', path: ['deep', 'n'] },
  { name: 'On', path: ['on'] },
];
const wrong = (args: unknown, headers: Readonly<Record<string, string>>): string | undefined =>
  wrongParamHeader(DECLARED, args, (name) => headers[name])?.header;

// The examples of the specification.
test.each([
  ['us-west1', 'us-west1'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ['', '=?base64??='],
])('%j goes as %j', (text, header) => {
  expect(encodeHeader(text)).toBe(header);
  expect(decodeHeader(header)).toBe(text);
});

test('whatever a text holds, it arrives, and nothing in it ends the header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const header = encodeHeader(text);
      expect(header).toMatch(/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/);
      expect(decodeHeader(header)).toBe(text.toWellFormed());
    }),
  );
});

test.each(['=?base64?a?=', '=?base64?YQ?=', '=?base64?YWI?=', '=?base64?YQ=?=', '=?base64?SGVs*bG8=?=', 'ü', 'a\u0007'])(
  '%j is no value of a header',
  (header) => {
    expect(decodeHeader(header)).toBeUndefined();
  },
);

test('what is there is sent, and nothing else', () => {
  expect(paramHeadersOf(DECLARED, { region: 'a', deep: { n: 0 }, on: false, other: 'x' })).toEqual({
    'Mcp-Param-Region': 'a',
    'Mcp-Param-N': '0',
    'Mcp-Param-On': 'false',
  });
  for (const args of [undefined, [], { region: null, deep: 3 }, { region: ['a'], deep: { n: 2 ** 53 } }, { deep: { n: Number.NaN } }])
    expect(paramHeadersOf(DECLARED, args)).toEqual({});
  expect(paramHeadersOf([{ name: 'C', path: ['constructor', 'name'] }], {})).toEqual({});
});

test('a header that says something else than the arguments is found', () => {
  const args = { region: 'a', deep: { n: 42 }, on: true };
  const right = { 'mcp-param-region': 'a', 'mcp-param-n': '42', 'mcp-param-on': 'true' };
  expect(wrong(args, right)).toBeUndefined();
  expect(wrong(args, { ...right, 'mcp-param-n': '42.0', 'mcp-param-region': '=?base64?YQ==?=', 'mcp-param-unknown': 'x' })).toBeUndefined();
  expect(wrong({}, {})).toBeUndefined();
  expect(wrong({ region: null }, {})).toBeUndefined();
  for (const [name, header] of [
    ['mcp-param-region', 'b'],
    ['mcp-param-region', 'a, a'],
    ['mcp-param-region', '=?base64?YQ?=='],
    ['mcp-param-n', '43'],
    ['mcp-param-n', '0x2a'],
    ['mcp-param-n', ''],
    ['mcp-param-on', 'TRUE'],
  ] as const)
    expect(wrong(args, { ...right, [name]: header }), `${name}: ${header}`).toBeDefined();
  expect(wrong(args, { 'mcp-param-region': 'a' })).toBe('Mcp-Param-N');
  expect(wrong({}, { 'mcp-param-region': 'a' })).toBe('Mcp-Param-Region');
  expect(wrong({ region: null }, { 'mcp-param-region': 'a' })).toBe('Mcp-Param-Region');
});
