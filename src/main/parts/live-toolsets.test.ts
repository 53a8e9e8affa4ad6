import { expect, test } from 'vitest';
import { defaultConfig } from '../../kernel/config/defaults.ts';
import type { Config } from '../../kernel/config/index.ts';
import { createLiveToolsets } from './live-toolsets.ts';

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const base = defaultConfig({ cores: 1, memory_bytes: 2 ** 30 });
const withToolsets = (toolsets: Config['tools']['toolsets'], narrowed?: readonly string[]): Config => ({
  ...base,
  tools: { ...base.tools, toolsets },
  ...(narrowed === undefined ? {} : { narrowed }),
});

test('what the operator takes out or puts in holds at once, but for what a project has left out', () => {
  const elsewhere = withToolsets({ few: ['a', 'b'] });
  const project = withToolsets({ few: ['a'] }, ['few']);
  const live = createLiveToolsets(withToolsets({ few: ['a', 'b'] }), logger);
  live.use('few');
  const seen = (at?: Config): string => ['a', 'b', 'c'].filter((tool) => live.allows('few', tool, at)).join('');
  expect([seen(), seen(elsewhere), seen(project)]).toEqual(['ab', 'ab', 'a']);
  expect(live.configure(withToolsets({ few: ['a', 'b'], other: [] }))).toBe(true);
  expect(live.configure(withToolsets({ few: ['a', 'b'], other: [] }))).toBe(false);
  live.configure(withToolsets({ few: ['b', 'c'] }));
  expect([seen(), seen(elsewhere), seen(project)]).toEqual(['bc', 'bc', '']);
  live.configure(withToolsets({}));
  expect(seen()).toBe('');
  expect(() => live.use('few')).toThrow('There is no toolset "few"');
});

test('where Writ was started in a project, what that leaves out stays out whatever the operator changes', () => {
  const live = createLiveToolsets(withToolsets({ default: ['a'] }, ['default']), logger);
  live.use('default');
  live.configure(withToolsets({}));
  expect([live.allows('default', 'a'), live.allows('default', 'b')]).toEqual([true, false]);
});
