import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isSecretName, secretValues } from './index.ts';
import { secretClass } from './names.ts';

interface EnvCase {
  readonly id: string;
  readonly overrides: Readonly<Record<string, string>>;
  readonly expect_present: Readonly<Record<string, string>>;
  readonly expect_absent: readonly string[];
}

const cases = readFileSync(new URL('../../../test/corpora/env.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): EnvCase => JSON.parse(line));

// Of these cases only the names are this room's; who builds an environment tests the rest.
test.each(cases.map((one) => [one.id, one] as const))('%s: names in overrides', (_id, { overrides, expect_absent }) => {
  for (const [name, value] of Object.entries(overrides)) {
    if (value !== '') expect(isSecretName(name)).toBe(expect_absent.includes(name));
  }
});

test.each([
  ['DB_PASSWORD', 'password'],
  ['dbPasswd', 'password'],
  ['PGPASSWORD', 'password'],
  ['SMTP_PASS', 'password'],
  ['DB_PASSWORD_PROD', 'password'],
  ['client-secret', 'token'],
  ['clientSecret', 'token'],
  ['X-Api-Key', 'token'],
  ['AWS_SECRET_ACCESS_KEY', 'token'],
  ['accessToken', 'token'],
  ['spring.datasource.password', 'password'],
  ['API_KEY_2', 'token'],
])('%s is the name of a %s', (name, kind) => expect(secretClass(name)).toBe(kind));

test.each([
  'tokens',
  'max_tokens',
  'tokenizer',
  'next_token',
  'nextPageToken',
  'pageToken',
  'progressToken',
  'PWD',
  'OLDPWD',
  'public_key',
  'primary_key',
  'keyboard',
  'monkey',
  'password_file',
  'passwordHash',
  'pass',
  'compass',
  'key',
  'bypass',
  '',
])('%s is not', (name) => expect(secretClass(name)).toBeUndefined());

test('the secret values of an environment are those under secret names that are long enough to look for', () => {
  expect(secretValues({ GITHUB_TOKEN: 'abcdefgh1', PATH: '/usr/bin:/bin', A_SECRET: 'short', LC_ALL: 'C' })).toEqual(['abcdefgh1']);
});
