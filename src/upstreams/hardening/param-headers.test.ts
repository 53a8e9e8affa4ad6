import { expect, test } from 'vitest';
import { readParamHeaders } from './param-headers.ts';

const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const region = { type: 'string', 'x-mcp-header': 'Region' };

test('arguments at any depth are found by the names that lead to them', () => {
  const schema = object({
    region,
    deep: object({ 'a/b': object({ n: { type: 'integer', 'x-mcp-header': 'N' } }) }),
    on: { type: 'boolean' },
  });
  const read = readParamHeaders(schema);
  expect(read.ok && [...read.headers].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
    { name: 'N', path: ['deep', 'a/b', 'n'] },
    { name: 'Region', path: ['region'] },
  ]);
});

test('a property of that name, and data that looks like it, are nothing of the kind', () => {
  const data = { 'x-mcp-header': 'Data' };
  const schema = object({ 'x-mcp-header': { type: 'string' }, a: { type: 'string', default: data, enum: [data], examples: [data] } });
  expect(readParamHeaders(schema)).toEqual({ ok: true, headers: [] });
  expect(readParamHeaders(true)).toEqual({ ok: true, headers: [] });
});

test.each<[string, object]>([
  ['no text', object({ a: { type: 'string', 'x-mcp-header': 7 } })],
  ['or an empty one', object({ a: { type: 'string', 'x-mcp-header': '' } })],
  ["can't be part", object({ a: { type: 'string', 'x-mcp-header': 'My Region' } })],
  ["can't be part", object({ a: { type: 'string', 'x-mcp-header': 'a:b' } })],
  ["can't be part", object({ a: { type: 'string', 'x-mcp-header': 'a\r\nSet-Cookie' } })],
  ["can't be part", object({ a: { type: 'string', 'x-mcp-header': 'x'.repeat(129) } })],
  ['no string, integer or boolean', object({ a: { type: 'number', 'x-mcp-header': 'A' } })],
  ['no string, integer or boolean', object({ a: { type: ['string', 'null'], 'x-mcp-header': 'A' } })],
  ['no string, integer or boolean', object({ a: { 'x-mcp-header': 'A' } })],
  ['twice', object({ a: region, b: { ...region, 'x-mcp-header': 'rEGION' } })],
  ['by names alone', { ...region }],
  ['by names alone', object({ a: { type: 'array', items: region } })],
  ['by names alone', object({ a: { type: 'array', items: object({ b: region }) } })],
  ['by names alone', object({}, { anyOf: [object({ a: region })] })],
  ['by names alone', object({}, { $defs: { a: region } })],
  ['by names alone', object({}, { additionalProperties: region })],
  ['by names alone', object({}, { patternProperties: { x: region } })],
  [
    'more than 64',
    object(Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`p${n}`, { type: 'string', 'x-mcp-header': `P${n}` }]))),
  ],
])('refused: %s', (problem, schema) => {
  const read = readParamHeaders(schema);
  expect(read.ok ? '' : read.problem).toContain(problem);
});
