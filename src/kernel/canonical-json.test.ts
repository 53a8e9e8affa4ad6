import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

describe('canonical JSON (RFC 8785)', () => {
  it('spells the example of section 3.2.2 as the RFC does', () => {
    const value = {
      // biome-ignore lint/correctness/noPrecisionLoss: the RFC's own example
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts members by UTF-16 code units (section 3.2.3)', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(Object.values(JSON.parse(canonicalJson(value)))).toEqual([4, 2, 6, 7, 1, 5, 3]);
  });

  it('keeps every JSON value, whatever the order of its members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        // JSON itself turns -0 into 0.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(canonicalJson({ a: 1, b: { c: 2, d: 3 } })).toBe(canonicalJson({ b: { d: 3, c: 2 }, a: 1 }));
  });

  it('spells what stands in order already as what does not', () => {
    const keys = ['', '$', '1', '10', '2', 'A', 'a', 'a\u0301', '\u20ac', '\ud83d\ude00', '\ufb33', '__proto__'];
    const shuffled = fc
      .shuffledSubarray(keys)
      .map((some) => Object.fromEntries(some.map((key, i) => [key, [i, { [key]: undefined, z: key }] as const])));
    fc.assert(
      fc.property(shuffled, (value) => {
        const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
        const spelled = `{${pairs.map(([key, [i, { z }]]) => `${JSON.stringify(key)}:[${i},{"z":${JSON.stringify(z)}}]`).join(',')}}`;
        expect(canonicalJson(value)).toBe(spelled);
        expect(canonicalJson(Object.fromEntries(pairs))).toBe(spelled);
      }),
    );
  });

  it('writes lone surrogates the same way every time, as valid UTF-8', () => {
    expect(canonicalJson({ '\udc00': '\ud800x' })).toBe('{"\\udc00":"\\ud800x"}');
    fc.assert(
      fc.property(fc.string({ unit: fc.integer({ min: 0xd7f0, max: 0xe010 }).map((code) => String.fromCharCode(code)) }), (text) => {
        const spelled = canonicalJson(text);
        expect(Buffer.from(spelled, 'utf8').toString('utf8')).toBe(spelled);
        expect(JSON.parse(spelled)).toBe(text);
      }),
    );
  });

  it('leaves out undefined members and writes -0 as 0', () => {
    expect(canonicalJson({ a: undefined, b: -0, c: Object.assign(Object.create(null), { d: [] }) })).toBe('{"b":0,"c":{"d":[]}}');
  });

  it.each([
    ['NaN', { a: [1, Number.NaN] }, '$.a[1] is NaN'],
    ['infinity', Number.POSITIVE_INFINITY, '$ is Infinity'],
    ['bigint', { a: 1n }, '$.a is of type bigint'],
    ['a function', [() => 1], '$[0] is of type function'],
    ['a symbol', Symbol('x'), '$ is of type symbol'],
    ['undefined in an array', [undefined], '$[0] is of type undefined'],
    ['a hole', new Array(1), '$[0] is of type undefined'],
    ['a Date', { at: new Date(0) }, '$.at is not a plain object (Date)'],
    ['a Map', new Map(), 'not a plain object (Map)'],
  ])('refuses %s and says where', (_name, value, message) => {
    expect(() => canonicalJson(value)).toThrow(message);
  });

  it('refuses a cycle', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(() => canonicalJson(value)).toThrow('refers to itself');
  });
});
