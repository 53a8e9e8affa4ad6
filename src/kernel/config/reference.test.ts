import { expect, test } from 'vitest';
import { defaultVerdict } from '../../policy/defaults.ts';
import { EFFECTS, VERDICTS } from '../../policy/types.ts';
import { configReference } from './reference.ts';
import { configJsonSchema } from './schema.ts';
import { DEFAULT_VERDICTS } from './tighten.ts';
import { EFFECT_WORDS, VERDICT_WORDS } from './types.ts';

const docs = (name: string): string => new URL(`../../../docs/reference/${name}`, import.meta.url).pathname;

// Stale? `vitest run src/kernel/config/reference.test.ts -u` writes them.
test('docs/reference/config.schema.json is what the schema says', async () => {
  await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(docs('config.schema.json'));
});

test('docs/reference/config.md is what the tables say', async () => {
  await expect(configReference()).toMatchFileSnapshot(docs('config.md'));
});

test('the words and default verdicts are those of policy', () => {
  expect([...EFFECT_WORDS, 'blocked'].toSorted()).toEqual(EFFECTS.toSorted());
  expect(VERDICT_WORDS).toEqual(VERDICTS);
  for (const effect of EFFECT_WORDS) expect(DEFAULT_VERDICTS[effect]).toBe(defaultVerdict(effect));
});
