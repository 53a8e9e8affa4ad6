import { describe, expect, test } from 'vitest';
import { createRedactor } from './index.ts';

const plain = createRedactor();

describe('a value', () => {
  test('is judged by its key and by its looks, at any depth', () => {
    expect(
      plain.value({
        password: 'hunter2',
        apiKey: 'abcdef123456',
        nested: [{ 'client-secret': 'abcdefgh12345678', list: ['ghp_aaaa0000bbbb1111cccc', 'plain'] }],
        tokens: ['abc'],
        next_token: 'abcdef123456',
        max_tokens: 4096,
        pin_password: 123456,
        credentials: { user: 'u', password: 'pw-pw-pw' },
        cookies: null,
        flag: true,
      }),
    ).toEqual({
      password: '[redacted:password]',
      apiKey: '[redacted:token]',
      nested: [{ 'client-secret': '[redacted:token]', list: ['[redacted:github_token]', 'plain'] }],
      tokens: ['abc'],
      next_token: 'abcdef123456',
      max_tokens: 4096,
      pin_password: '[redacted:password]',
      credentials: { user: 'u', password: '[redacted:password]' },
      cookies: null,
      flag: true,
    });
  });

  test('keeps placeholders, types and what is no text', () => {
    const honest = {
      password: '',
      token: '<token>',
      secret: null,
      type: 'object',
      properties: { password: { type: 'string' } },
      n: [1, -0.5, undefined],
    };
    expect(plain.value(honest)).toEqual(honest);
  });

  test('has its keys looked at too, and odd ones stay keys', () => {
    const given = JSON.parse('{"ghp_aaaa0000bbbb1111cccc": 1, "__proto__": {"password": "hunter2"}}');
    const out = plain.value(given) as Record<string, unknown>;
    expect(Object.keys(out)).toEqual(['[redacted:github_token]', '__proto__']);
    expect(JSON.stringify(out)).not.toContain('hunter2');
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype);
  });

  test('is not changed in place, and is cut below 64 levels', () => {
    const given = { password: 'hunter2' };
    plain.value(given);
    expect(given.password).toBe('hunter2');
    let deep: unknown = 'ghp_aaaa0000bbbb1111cccc';
    for (let level = 0; level < 50_000; level++) deep = [deep];
    const text = JSON.stringify(plain.value(deep));
    expect(text).toBe(`${'['.repeat(64)}"[redacted:too_deep]"${']'.repeat(64)}`);
  });

  test('twice is once', () => {
    const given = { password: 'hunter2', url: 'https://u:p4ss@h/', list: ['DB_PASSWORD=x1y2z3'] };
    expect(plain.value(plain.value(given))).toEqual(plain.value(given));
  });
});

describe('a known value', () => {
  const secret = 'Zq7~x?k>w+42';
  const redactor = createRedactor({ known_values: [secret] });

  test('goes in every form it is likely to take', () => {
    const forms = [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
    ];
    for (const form of forms) expect(redactor.text(`a ${form} b`)).toMatch(/^a \[redacted:known_value\]=* b$/);
    expect(createRedactor({ known_values: ['say "hi" \\ there'] }).text(JSON.stringify({ x: 'say "hi" \\ there' }))).toBe(
      '{"x":"[redacted:known_value]"}',
    );
  });

  test.each(['', 'u', 'u:', 'user', 'user:'])('goes inside the base64 of more (after %j)', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      expect(redactor.text(Buffer.from(`${before}${secret}\n`).toString(encoding))).toContain('[redacted:known_value]');
    }
  });

  test('glued to another secret takes both along', () => {
    expect(redactor.text(`${secret}ghp_aaaa0000bbbb1111cccc${secret}`)).not.toMatch(/Zq7|ghp_/);
  });

  test('that would hit ordinary text is not looked for', () => {
    const ordinary = ['short', '/usr/bin/node', 'production', 'xxxxxxxxxxxx', '12345678', '        ', 'ababababab', ''];
    const careful = createRedactor({ known_values: ordinary });
    for (const text of ordinary) expect(careful.text(`a ${text} b`)).toBe(`a ${text} b`);
  });

  test('longer than a chunk goes from a stream', () => {
    const long = Array.from({ length: 300 }, (_, index) => `k${index}`).join('-');
    const stream = createRedactor({ known_values: [long] }).stream();
    let out = '';
    for (const character of `x ${long} y`) out += stream.push(character);
    expect(out + stream.flush()).toBe('x [redacted:known_value] y');
  });
});

test('a quoted value with escapes, longer than what is judged, goes whole however it is cut', () => {
  const text = `{"password": "${'a1\\"b\\\\'.repeat(100)}", "next": "stays"}`;
  const whole = plain.text(text);
  expect(whole).toBe('{"password": "[redacted:password]", "next": "stays"}');
  for (const size of [1, 2, 3, 7, 64]) {
    const stream = plain.stream();
    let out = '';
    for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
    expect(out + stream.flush()).toBe(whole);
  }
});

test('data without secrets is the same object, and what is around a secret is copied in its order', () => {
  const redactor = createRedactor();
  const data = { a: [1, { b: 'x' }], c: null };
  expect(redactor.value(data)).toBe(data);
  const around = JSON.parse('{"b":{"d":[true]},"password":"hunter2hunter2","__proto__":{"a":1},"a":2}') as Record<string, unknown>;
  const shown = redactor.value(around) as Record<string, unknown>;
  expect(JSON.stringify(shown)).toBe('{"b":{"d":[true]},"password":"[redacted:password]","__proto__":{"a":1},"a":2}');
  expect(shown['b']).toBe(around['b']);
  expect(around['password']).toBe('hunter2hunter2');
  expect(redactor.value({ at: new Date(0), list: ['a', 'password=hunter2hunter2'] })).toEqual({
    at: {},
    list: ['a', 'password=[redacted:password]'],
  });
});

test('text without secrets is the same string, not a copy', () => {
  const text = 'nothing here';
  expect(plain.text(text)).toBe(text);
});
