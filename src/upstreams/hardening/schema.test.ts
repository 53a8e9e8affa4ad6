import { expect, test } from 'vitest';
import { findSchemaProblem } from './schema.ts';

type Json = Record<string, unknown>;
const object = (more: Json = {}): Json => ({ type: 'object', ...more });

test.each<[string, Json]>([
  ['a recursive tree', object({ properties: { a: { $ref: '#' } } })],
  [
    'a recursive list',
    object({
      $defs: { n: { anyOf: [{ type: 'null' }, object({ properties: { next: { $ref: '#/$defs/n' } } })] } },
      properties: { a: { $ref: '#/$defs/n' } },
    }),
  ],
  [
    'its own address',
    object({ $id: 'https://example.com/s', properties: { a: { $ref: 'https://example.com/s#/$defs/b' } }, $defs: { b: {} } }),
  ],
  [
    'an anchor of draft-07',
    object({ $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { $ref: '#b' } }, definitions: { b: { $id: '#b' } } }),
  ],
  ['a dynamic reference', object({ $defs: { n: { $dynamicAnchor: 'n', type: 'string' } }, properties: { a: { $dynamicRef: '#n' } } })],
  [
    'data that looks like a schema',
    object({
      default: { $ref: 'https://example.com/x' },
      properties: { a: { const: { $ref: '#/gone' }, enum: [{ required: 7 }] } },
      examples: [{ type: 'x' }],
    }),
  ],
  [
    'a property that is called like a keyword',
    object({ properties: { $ref: { type: 'string' }, required: { type: 'string' }, properties: object() } }),
  ],
  ['names of other properties', object({ dependencies: { a: ['b'], c: object() }, dependentRequired: { a: ['b'] } })],
  ['items as a list and as a schema', object({ properties: { a: { items: [{}, true] }, b: { items: { type: ['string', 'null'] } } } })],
])('%s is sound', (_, schema) => {
  expect(findSchemaProblem(schema, 'object')).toBeUndefined();
});

test.each<[string, Json, RegExp]>([
  ['itself as itself', object({ $ref: '#' }), /only back to itself/],
  [
    'a circle through anyOf',
    object({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{ type: 'null' }, { allOf: [{ $ref: '#/$defs/a' }] }] } } }),
    /only back to itself/,
  ],
  ['a circle nobody refers to', object({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }), /only back to itself/],
  [
    'a reference into data',
    object({ properties: { a: { $ref: '#/properties/b/default' }, b: { default: { type: 'string' } } } }),
    /where there is no schema/,
  ],
  ['a reference to a prototype', object({ properties: { a: { $ref: '#/constructor/prototype' } } }), /where there is no schema/],
  ['a broken escape', object({ properties: { a: { $ref: '#/%E0%A4%A' } } }), /where there is no schema/],
  ['a file', object({ properties: { a: { $ref: 'file:///etc/passwd' } } }), /never fetched/],
  ['a relative address', object({ properties: { a: { $ref: 'other.json' } } }), /never fetched/],
  [
    'an unknown dialect inside',
    object({ properties: { a: { $schema: 'https://example.com/d' } } }),
    /unknown dialect.* at #\/properties\/a/,
  ],
  ['properties that are no schemas', object({ properties: { a: 'string' } }), /no schema at #\/properties\/a/],
  ['anyOf that is no list', object({ properties: { a: { anyOf: {} } } }), /anyOf is not a list/],
  ['a type that there is none of', object({ properties: { a: { type: 'any' } } }), /"type"/],
  ['a number as reference', object({ properties: { a: { $ref: 7 } } }), /"\$ref"/],
])('%s is refused', (_, schema, why) => {
  expect(findSchemaProblem(schema, 'object')).toMatch(why);
});

test('a chain of ten thousand references is followed without a stack', () => {
  const length = 6_000;
  const $defs = Object.fromEntries(Array.from({ length }, (_, at) => [`d${at}`, at + 1 < length ? { $ref: `#/$defs/d${at + 1}` } : {}]));
  expect(findSchemaProblem(object({ $ref: '#/$defs/d0', $defs }), 'object')).toBeUndefined();
  expect(
    findSchemaProblem(object({ $ref: '#/$defs/d0', $defs: { ...$defs, [`d${length - 1}`]: { $ref: '#/$defs/d0' } } }), 'object'),
  ).toMatch(/only back to itself/);
});
