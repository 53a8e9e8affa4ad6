import { expect, test } from 'vitest';
import { serverReference } from './reference.ts';

// Stale? `vitest run src/upstreams/settings/reference.test.ts -u` writes it.
test('docs/reference/mcp-servers.md is what the tables say', async () => {
  await expect(serverReference()).toMatchFileSnapshot(new URL('../../../docs/reference/mcp-servers.md', import.meta.url).pathname);
});
