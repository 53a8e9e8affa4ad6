import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, GROWTH, MAX_HELD } from './index.ts';

const KNOWN = 'correct+horse/battery=staple~~~???';
const redactor = createRedactor({ known_values: [KNOWN] });

/** Made of repeated letters in the right shape; none was ever valid. */
const SECRETS = [
  'AKIAEXAMPLEEXAMPLEEX',
  'ghp_FakeToken0FakeToken0FakeToken0FakeTo',
  'github_pat_FFFFFFFFFFFFFFFFFFFFFF_a1a1a1a1a1a1a1a1a1a1a1a1a1a1',
  'glpat-x1x1x1x1x1x1x1x1x1x1',
  'AIzaFakeKeyFakeKeyFakeKeyFakeKeyFakeKey',
  'sk-ant-api03-Ab1Ab1Ab1Ab1Ab1Ab1Ab1Ab1Ab1Ab1',
  'sk-fakefakefakefakefakefakefakefake',
  'xoxb-111111111111-222222222222-ffffffffffffffffffffffff',
  'sk_live_fakefakefakefakefakefake',
  'SG.ffffffffffffffffffffff.ggggggggggggggggggggggggggggggggggggggggggg',
  'npm_fakefakefakefakefakefakefakefakefake',
  'hvs.FAKEFAKEFAKEFAKEFAKEFAKEFAKE',
  'eyJaaaaaaaaaaaaaaaaaaaaaaa.eyJbbbbbbbbbbbbbbbbbbbbbbbb.cccccccccccccccc',
  KNOWN,
  encodeURIComponent(KNOWN),
  Buffer.from(KNOWN).toString('base64').replace(/=+$/, ''),
  Buffer.from(KNOWN).toString('base64url'),
];
const PEM = ['-----BEGIN RSA PRIVATE KEY-----', 'FAKE'.repeat(16), 'LAST'.repeat(9), '-----END RSA PRIVATE KEY-----'];

const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SECRETS) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'password',
      'DB_PASSWORD',
      'API_TOKEN',
      'client_secret',
      '"apiKey"',
      '--token',
      'next_token',
      'Authorization',
      'Cookie',
      'Set-Cookie',
      'Bearer ',
      'machine h',
      'login u',
      'https://',
      'u:p4ssw0rd@host/',
      'curl -u ',
      'mysql',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '=',
      ': ',
      ' = ',
      ' := ',
      '"',
      "'",
      '\\"',
      '\\n',
      '\n',
      '\r\n',
      ' ',
      ';',
      ',',
      '\\',
      '@',
      '&',
      '<',
      '>',
      '{',
      '}',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\u001b[31m',
      '\u001b[0m',
      '%3D',
      '\\u003d',
      '[redacted:',
      '[redacted:token]',
      'hunter2',
      'dictionary',
      '12345678',
      'ghp_',
      'sk-',
      'eyJ',
      '://',
      '-----',
      'x'.repeat(300),
      '<token>',
      '</token>',
      '==',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(PEM.join('\n'), PEM.join('\\n'), PEM.slice(0, 3).join('\n'), PEM[0] ?? '').map((block) => `\n${block}`),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
);
const text = fc.array(fragment, { maxLength: 25 }).map((parts) => parts.join(''));
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 40 });
const RUNS = { numRuns: 1500 };

describe('any text', () => {
  test('redacted twice is redacted once', () => {
    fc.assert(
      fc.property(text, (given) => {
        const once = redactor.text(given);
        expect(redactor.text(once)).toBe(once);
      }),
      RUNS,
    );
  });

  test('grows within the written bound', () => {
    fc.assert(
      fc.property(text, (given) => redactor.text(given).length <= given.length * GROWTH),
      RUNS,
    );
  });

  test('in pieces comes out as in one, and little is held back', () => {
    fc.assert(
      fc.property(text, cuts, (given, sizes) => {
        const stream = redactor.stream();
        let out = '';
        let at = 0;
        for (const size of sizes) {
          out += stream.push(given.slice(at, at + size));
          at = Math.min(given.length, at + size);
        }
        out += stream.push(given.slice(at));
        out += stream.flush();
        expect(out).toBe(redactor.text(given));
      }),
      RUNS,
    );
  });
});

test('character by character comes out as in one', () => {
  const short = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(short, (given) => {
      const stream = redactor.stream();
      let out = '';
      for (let at = 0; at < given.length; at++) out += stream.push(given.charAt(at));
      expect(out + stream.flush()).toBe(redactor.text(given));
    }),
    { numRuns: 1000 },
  );
});

describe('a secret', () => {
  const SURROUNDINGS: readonly (readonly [string, string])[] = [
    ['', ''],
    [' ', '\n'],
    ['"', '"'],
    ["'", "',"],
    ['\\n', '\\n'],
    ['\\"', '\\"'],
    ['\u001b[1;31m', '\u001b[0m'],
    ['?key=', '&x=1'],
    ['%3D', '%26'],
    ['\\u003d', '\\u0026'],
    ['(', ')'],
    ['token=', ''],
    ['<', '>'],
    ['|', '|'],
    ['https://', '@example.com/'],
  ];
  const prose = fc.constantFrom('', 'some words ', 'the password is ', 'a: b\n', '{"x": 1, ', 'ghp_ sk- eyJ ');

  test('goes wherever it stands', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SECRETS), fc.constantFrom(...SURROUNDINGS), prose, (secret, [before, after], words) => {
        expect(redactor.text(words + before + secret + after)).not.toContain(secret);
        expect(JSON.stringify(redactor.value({ [words]: [before + secret + after] }))).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
      RUNS,
    );
  });

  test.each(SECRETS)('goes also when it comes character by character: %s', (secret) => {
    const stream = redactor.stream();
    let out = '';
    for (const character of `x ${secret} y`) out += stream.push(character);
    expect(out + stream.flush()).toBe(redactor.text(`x ${secret} y`));
    expect(redactor.text(`x ${secret} y`)).toMatch(/^x \[redacted:[a-z_]+\] y$/);
  });
});

describe('a stream', () => {
  test('holds back no more than it says', () => {
    for (const opening of ['-----BEGIN PRIVATE KEY-----\n', 'machine h login u ', 'eyJ', 'https://u:', 'sk-']) {
      const stream = redactor.stream();
      let given = 0;
      let out = 0;
      // Nothing here ends what was opened, so what isn't out is either held or was a secret.
      for (const piece of [opening, ...Array.from({ length: 400 }, () => '. '.repeat(50))]) {
        given += piece.length;
        out += stream.push(piece).length;
        expect(given - out).toBeLessThanOrEqual(MAX_HELD);
      }
    }
  });

  test('answers ordinary text at once', () => {
    const stream = redactor.stream();
    expect(stream.push('building 12 of 40 files\n')).toBe('building 12 of 40 file');
    expect(stream.push('done\n')).toBe('s\ndon');
    expect(stream.flush()).toBe('e\n');
  });

  test('begins anew after flush', () => {
    const stream = redactor.stream();
    expect(stream.push('ghp_FakeToken0FakeToken0')).toBe('[redacted:github_token]');
    expect(stream.flush()).toBe('');
    expect(stream.push('abc') + stream.flush()).toBe('abc');
  });
});
