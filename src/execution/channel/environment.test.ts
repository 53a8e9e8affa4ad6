import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { channelEnvironment } from './environment.ts';

interface Case {
  readonly id: string;
  readonly parent: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly expect_present: Readonly<Record<string, string>>;
  readonly expect_absent: readonly string[];
  readonly retired?: string;
}
const cases = readFileSync(new URL('../../../test/corpora/env.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Case => JSON.parse(line))
  .filter((one) => one.retired === undefined);

it.each(cases)('$id', ({ parent, overrides, expect_present, expect_absent }) => {
  const { env, stripped } = channelEnvironment({ parent, overrides });
  for (const [name, value] of Object.entries(expect_present)) expect(Object.getOwnPropertyDescriptor(env, name)?.value, name).toBe(value);
  for (const name of expect_absent) expect(Object.hasOwn(env, name), name).toBe(false);
  // What was configured is there, removed, or said to be kept back.
  for (const [name, value] of Object.entries(overrides))
    expect(Object.hasOwn(env, name) || value === '' || stripped.includes(name)).toBe(true);
});

it('lets through what was declared to be a secret, and only of what was configured', () => {
  const input = { parent: { API_TOKEN: 'of the host' }, overrides: { MY_TOKEN: 'x', OTHER_TOKEN: 'y' } };
  expect(channelEnvironment({ ...input, env_secrets: ['MY_TOKEN', 'API_TOKEN'] })).toEqual({
    env: { MY_TOKEN: 'x' },
    stripped: ['OTHER_TOKEN'],
  });
});

it('takes any name for a name', () => {
  const overrides = JSON.parse('{"__proto__": "p", "constructor": "c", "toString": "t"}') as Record<string, string>;
  const { env } = channelEnvironment({ parent: {}, overrides });
  expect(Object.entries(env)).toEqual(Object.entries(overrides));
});
