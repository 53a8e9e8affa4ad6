import { expect, test } from 'vitest';
import { configReference } from './reference.ts';
import { configJsonSchema } from './schema.ts';

const docs = (name: string): string => new URL(`../../../docs/reference/${name}`, import.meta.url).pathname;

// Stale? `vitest run src/kernel/config/reference.test.ts -u` writes them.
test('docs/reference/config.schema.json is what the schema says', async () => {
  await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(docs('config.schema.json'));
});

test('docs/reference/config.md is what the tables say', async () => {
  await expect(configReference()).toMatchFileSnapshot(docs('config.md'));
});
