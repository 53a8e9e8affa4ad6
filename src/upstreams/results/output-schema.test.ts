import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { schemaMismatch } from './output-schema.ts';

const tree = { type: 'object', properties: { next: { $ref: '#' }, v: { type: 'number' } } };

const wrong: readonly (readonly [unknown, unknown, string])[] = [
  [{ type: 'string' }, 1, '$ must be string'],
  [{ type: ['string', 'null'] }, 1, '$ must be string or null'],
  [{ type: 'integer' }, 1.5, '$ must be integer'],
  [{ type: 'object' }, [], '$ must be object'],
  [{ type: 'object' }, null, '$ must be object'],
  [{ required: ['a'] }, {}, '$ must have the member "a"'],
  [{ required: ['toString'] }, {}, '$ must have the member "toString"'],
  [{ properties: { a: { type: 'string' } } }, { a: 1 }, '$.a must be string'],
  [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, '$.b must not be there'],
  [{ additionalProperties: { type: 'number' } }, { b: 'x' }, '$.b must be number'],
  [{ items: { type: 'number' } }, [1, 'x'], '$[1] must be number'],
  [{ prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [1, 2], '$[1] must be string'],
  [{ items: [{ type: 'number' }] }, ['x', 'y'], '$[0] must be number'],
  [{ enum: ['a', { b: 1 }] }, { b: 2 }, '$ must be one of the given values'],
  [{ const: 1 }, 2, '$ must be the given value'],
  [{ allOf: [{ type: 'object' }, { required: ['a'] }] }, {}, '$ must have the member "a"'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, '$ fits none of the alternatives'],
  [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 1, '$ fits none of the alternatives'],
  [{ $defs: { 'a/b': { type: 'number' } }, $ref: '#/$defs/a~1b' }, 'x', '$ must be number'],
  [tree, { next: { next: { v: 'x' } } }, '$.next.next.v must be number'],
  [{ minimum: 1 }, 0, '$ must be at least 1'],
  [{ exclusiveMaximum: 1 }, 1, '$ must be less than 1'],
  [{ maxLength: 2 }, 'abc', '$ must have characters: at most 2'],
  [{ minItems: 1 }, [], '$ must have items: at least 1'],
  [{ maxProperties: 0 }, { a: 1 }, '$ must have members: at most 0'],
  [false, 1, '$ must not be there'],
];

test.each(wrong)('%j does not fit %j', (schema, value, message) => expect(schemaMismatch(schema, value)).toBe(message));

describe('what fits, or is not known', () => {
  const right: readonly (readonly [unknown, unknown])[] = [
    [{}, 1],
    [true, 1],
    [{ type: 'number' }, 1],
    [{ type: 'thing' }, 1],
    [{ maxLength: 1 }, '😀'],
    [{ oneOf: [{ type: 'number' }, { minimum: 0 }] }, 1],
    [{ pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    [{ $ref: 'https://example.com/x' }, 1],
    [{ $ref: '#/$defs/none' }, 1],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, { x: 1 }],
    [{ anyOf: [] }, 1],
    [{ properties: 7, required: 'a', items: 3, enum: 'x', minimum: 'x' }, { a: 1 }],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, 1],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/a',
        type: 'string',
        definitions: { a: { type: 'number' } },
      },
      1,
    ],
    [{ properties: { a: { $id: 'https://a.example/x', $ref: '#/$defs/a' } }, $defs: { a: { type: 'number' } } }, { a: 'x' }],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), {}],
  ];
  test.each(right)('%j takes %j', (schema, value) => expect(schemaMismatch(schema, value)).toBeUndefined());
});

test('a schema that fans out and a deep value end', () => {
  const fan: Record<string, unknown> = { d30: { type: 'string' } };
  for (let level = 0; level < 30; level++)
    fan[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] };
  expect(schemaMismatch({ $defs: fan, $ref: '#/$defs/d0' }, 'x')).toBeUndefined();
});

test('nothing that JSON can hold makes it throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => void schemaMismatch(schema, value)),
    { numRuns: 300 },
  );
});
