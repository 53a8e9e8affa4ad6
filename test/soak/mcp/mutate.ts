import type { Random } from '../kit/random.ts';
import type { Json } from './seeds.ts';

/** What ids and other members become: every JSON type, and the numbers and strings that parsers trip over. */
const ODD: readonly string[] = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '1.5',
    '1e2',
    '1e400',
    '9007199254740991',
    '9007199254740993',
    '""',
    '"0"',
    '"1"',
    '[]',
    '{}',
  ],
  ...['"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"__proto__"', '"constructor"', '"2.0"', '"init"', '"wait-1"', '[[[]]]', '{"":{}}'],
  ...[
    '"\\u2028é𝒳"',
    '{"__proto__":{"id":7}}',
    '"2025-03-26"',
    '"2026-07-28"',
    '"tools/call"',
    '[{"jsonrpc":"2.0","id":5,"method":"ping"}]',
  ],
];
const NAMES = [
  'id',
  'method',
  'jsonrpc',
  'params',
  'result',
  'error',
  '_meta',
  'name',
  'arguments',
  'requestId',
  '__proto__',
  'toString',
  '',
];
const BYTES = [
  0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x30, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xbf, 0xc0, 0xed, 0xef, 0xff,
];

/** One line or several, most of them near a valid frame. */
export function mutateFrame(frame: Json, others: readonly Json[], random: Random): Buffer {
  let text = serialize(frame, random, random.chance(0.55) ? 0.06 : 0);
  if (random.chance(0.05)) text = deepen(text, random);
  if (random.chance(0.02)) text = text.replace(/"text":"[^"]*"/, () => `"text":"${'x'.repeat(random.below(200_000))}"`);
  let bytes: Buffer = Buffer.from(text);
  if (random.chance(0.3)) for (let edits = 1 + random.below(3); edits > 0; edits--) bytes = edit(bytes, others, random);
  return Buffer.concat([bytes, Buffer.from(random.chance(0.03) ? '\r\n' : '\n')]);
}

/** JSON text of a value, in which any member may become something else, go, appear twice or change its name. */
function serialize(value: Json, random: Random, rate: number): string {
  if (random.chance(rate)) return random.pick(ODD);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => serialize(item, random, rate)).join()}]`;
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (random.chance(rate / 2)) return [];
    const key = random.chance(rate / 4) ? random.pick(NAMES) : name;
    const one = `${JSON.stringify(key)}:${serialize(member, random, rate)}`;
    return random.chance(rate / 4) ? [one, `${JSON.stringify(key)}:${random.pick(ODD)}`] : [one];
  });
  if (random.chance(rate)) members.push(`${JSON.stringify(random.pick(NAMES))}:${random.pick(ODD)}`);
  if (random.chance(rate)) members.reverse();
  return `{${members.join(random.chance(rate) ? ' ,\t' : ',')}}`;
}

/** Puts a deep value in the place of some member, on both sides of what is allowed. */
function deepen(text: string, random: Random): string {
  const depth = random.pick([2, 60, 120, 130, 1_000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const inside = open === '[' ? '' : '1';
  const deep = open.repeat(depth) + inside + (random.chance(0.9) ? close.repeat(depth) : '');
  const at = [...text.matchAll(/:(?:"[^"\\]*"|\d+|\{\}|\[\])/g)];
  const place = at.length === 0 ? undefined : random.pick(at);
  return place === undefined ? deep : `${text.slice(0, place.index + 1)}${deep}${text.slice(place.index + place[0].length)}`;
}

function edit(bytes: Buffer, others: readonly Json[], random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const length = 1 + random.below(8);
  const head = bytes.subarray(0, at);
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[at % flipped.length] = (flipped[at % flipped.length] ?? 0) ^ (1 << random.below(8));
      return flipped;
    }
    case 1:
      return Buffer.concat([head, Buffer.from([random.pick(BYTES)]), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([head, bytes.subarray(at + length)]);
    case 3:
      return Buffer.concat([head, bytes.subarray(Math.max(0, at - length))]);
    case 4:
      return random.chance(0.5) ? Buffer.from(head) : Buffer.from(bytes.subarray(at));
    case 5: {
      const other = Buffer.from(JSON.stringify(random.pick(others)));
      return Buffer.concat([head, other.subarray(random.below(other.length))]);
    }
    case 6:
      return Buffer.concat([Buffer.from(random.pick(['\ufeff', ' ', '\u00a0', '\n\n', '\0'])), bytes]);
    default:
      return Buffer.concat([bytes, Buffer.from(random.pick([' ', '\0', '}', ']', ',', '\r', '\u2028', 'x']))]);
  }
}
