import { expect, test } from 'vitest';
import { featuresFor, holdOf, startedUnattended } from './hosts.ts';
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

test.each([
  ['claude-code', 540_000],
  ['codex-mcp-client', 540_000],
  ['opencode', 45_000],
  ['', 45_000],
])('%s can be kept waiting for a person for %i ms', (name, ms) => {
  expect(holdOf(statelessPeer('2026-07-28', { name }, {}))).toBe(ms);
});

test.each([
  [{ CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }, true],
  [{ CLAUDE_CODE_ENTRYPOINT: 'cli' }, false],
  [{}, false],
])('%j was started without a person: %s', (env, unattended) => {
  expect(startedUnattended(env)).toBe(unattended);
});
