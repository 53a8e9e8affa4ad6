import { expect, test } from 'vitest';
import { featuresFor } from './hosts.ts';
import { statelessPeer } from './peer.ts';

test.each([
  ['claude-code', false],
  ['codex-mcp-client', false],
  ['qwen-cli-mcp-client-whatever', false],
  ['not-claude-code', true],
  ['', true],
])('%s gets structured content: %s', (name, structured) => {
  expect(featuresFor(statelessPeer('2026-07-28', { name }, {}))).toMatchObject({ era: 'stateless', structured });
});

test('a client without a name gets what its revision allows', () => {
  expect(featuresFor(statelessPeer('2026-07-28', undefined, {})).structured).toBe(true);
});
