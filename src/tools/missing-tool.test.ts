import { expect, test } from 'vitest';
import type { UpstreamState } from '../upstreams/types.ts';
import { missingTool } from './missing-tool.ts';

const with1 = (state: UpstreamState, prefix = 'notes'): Parameters<typeof missingTool>[1] =>
  ({
    status: () => [{ name: 'notes', state, reason: 'because' }],
    get: () => ({ settings: { prefix } }),
  }) as unknown as Parameters<typeof missingTool>[1];

test.each<[UpstreamState, string, string]>([
  ['needs_approval', 'tool_unapproved', 'writ upstream approve notes'],
  ['quarantined', 'tool_unapproved', 'writ upstream approve notes'],
  ['failed', 'upstream_unavailable', 'writ upstream test notes'],
  ['starting', 'upstream_unavailable', 'writ upstream test notes'],
])('a tool of a server that is %s is not just unknown', (state, code, fix) => {
  const error = missingTool('notes__greet', with1(state));
  expect(error).toMatchObject({ code, message: expect.stringContaining('because') });
  expect(error?.fix).toContain(fix);
});

test('nothing is said of what is unknown to a server that is there, of nobody, or of one without a prefix', () => {
  expect(missingTool('notes__greet', with1('connected'))).toBeUndefined();
  expect(missingTool('noteses__greet', with1('failed'))).toBeUndefined();
  expect(missingTool('greet', with1('failed'))).toBeUndefined();
  expect(missingTool('__greet', with1('failed', ''))).toBeUndefined();
});
