import { expect, test, vi } from 'vitest';
import type { AgentToken } from '../identity/types.ts';
import { createBearers } from './bearers.ts';

const TOKEN: AgentToken = {
  id: 'tok_1',
  name: 'ci',
  agent: 'agent_ci',
  workspaces: [],
  toolset: 'default',
  attended: false,
  created_at: 0,
};

test('whose credential is revoked is told of once, though they ask for nothing any more', async () => {
  let known: AgentToken | undefined = TOKEN;
  const ended = vi.fn();
  const bearers = createBearers({
    tokens: { find: async () => known, used: () => {} },
    serve: () => ({}) as never,
    ended,
  });
  const found = await bearers.authenticate(`Bearer writ_at_${'a'.repeat(43)}`, {});
  const signal = found.type === 'caller' ? found.caller.signal : undefined;
  expect([found.type, signal?.aborted]).toEqual(['caller', false]);
  known = undefined;
  await expect.poll(() => signal?.aborted, { timeout: 10_000 }).toBe(true);
  expect(ended.mock.calls).toEqual([[TOKEN]]);
  bearers.close();
});
