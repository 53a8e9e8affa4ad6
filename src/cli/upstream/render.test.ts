import { expect, test } from 'vitest';
import type { UpstreamStatus } from '../../upstreams/index.ts';
import { renderStatus } from './render.ts';

const STATUS: UpstreamStatus = {
  name: 'x',
  source: 'operator',
  transport: 'stdio',
  state: 'failed',
  reason: 'its connection ended: it exited with 1',
  since: Date.UTC(2026, 11, 1),
  tools: { all: 1, enabled: 1, disabled: 0 },
  last_error: 'its connection ended: it exited with 1',
  restarts: 1,
  dropped: { late: 2, unknown: 0, noise: 3 },
};

test('how a server stands is said with what it sent for nobody, and nothing of that where there was none', () => {
  expect(renderStatus(STATUS).split('\n')).toEqual([
    'x: failed, 1 tool: its connection ended: it exited with 1',
    '  since 2026-12-01T00:00:00Z, 1 restart',
    '  dropped: answers that came too late 2, answers to nothing 0, lines that are no message 3',
  ]);
  expect(renderStatus({ ...STATUS, dropped: { late: 0, unknown: 0, noise: 0 } })).not.toContain('dropped');
});
