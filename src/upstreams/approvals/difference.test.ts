import fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, differenceLines } from './difference.ts';
import { pinOf, schemaOf } from './pin.ts';

const tool = (more: object = {}): Record<string, unknown> => ({
  name: 'get',
  description: 'Gets it.',
  inputSchema: { type: 'object' },
  ...more,
});

test('the same thing has the same pin, however its members are ordered', () => {
  const one = pinOf({ a: 1, b: { c: [1, 2], d: 'x' }, gone: undefined });
  expect(pinOf({ b: { d: 'x', c: [1, 2] }, a: 1 })).toEqual(one);
  expect(pinOf({ a: 1, b: { c: [2, 1], d: 'x' } }).sha256).not.toBe(one.sha256);
  expect(pinOf(JSON.parse('{"__proto__":1}')).sha256).not.toBe(pinOf({}).sha256);
});

test('two things with one pin are one thing', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (one, two) => {
      const [a, b] = [pinOf(one), pinOf(two)];
      const changes = difference(a, b).changes.length;
      expect(a.sha256 === b.sha256).toBe(changes === 0);
    }),
  );
});

test('what changed is said in lines that nothing escapes from, with digest and size of the schema', () => {
  const before = pinOf(tool({ title: 'Get' }));
  const after = pinOf(
    tool({
      description: `Gets it${'!'.repeat(5_000)}\u202e\n\u001b[31m`,
      inputSchema: { type: 'object', properties: { 'a\u200b': { type: 'string' } } },
    }),
  );
  const lines = differenceLines(difference(before, after));
  expect(lines).toEqual([
    'description: changed',
    '  - "Gets it."',
    `  + "Gets it${'!'.repeat(3_992)}… (and 1022 more characters)`,
    'inputSchema.properties: added',
    '  + {"a\\u{200b}":{"type":"string"}}',
    'title: removed',
    '  - "Get"',
    `input schema before: 17 bytes, SHA-256 ${schemaOf(before)?.sha256}`,
    `input schema: 57 bytes, SHA-256 ${schemaOf(after)?.sha256}`,
  ]);
});

test('a big member is compared by digest, and a long difference is counted', () => {
  const big = pinOf(tool({ inputSchema: { type: 'object', title: 'a'.repeat(17_000) } }));
  const bigger = pinOf(tool({ inputSchema: { type: 'object', title: 'a'.repeat(17_001) } }));
  expect(big.fields.find(({ name }) => name === 'inputSchema')?.text).toBeUndefined();
  expect(difference(big, bigger)).toMatchObject({
    changes: [{ path: 'inputSchema', kind: 'changed', before: expect.stringMatching(/^17028 bytes, SHA-256 [0-9a-f]{64}$/) }],
    left_out: 0,
  });
  const members = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`m${at}`, at]));
  const long = difference(pinOf({}), pinOf(members));
  expect([long.changes.length, long.left_out]).toEqual([50, 10]);
  expect(differenceLines(long).at(-1)).toBe('and 10 more');
});
