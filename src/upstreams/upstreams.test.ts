import { expect, test } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import type { UpstreamTool } from './types.ts';
import type { Upstream } from './upstream.ts';
import { createUpstreams } from './upstreams.ts';

function upstream(name: string, exposed: readonly string[]): Upstream {
  const tools = exposed.map((each) => ({ name: each, exposed: each, server: name, definition: {} }) as unknown as UpstreamTool);
  return { settings: { name }, tools: () => tools } as unknown as Upstream;
}

test('of two names that differ in case only the first of the configuration is there, whichever server was connected first', () => {
  const said: string[] = [];
  const logger = { ...silentLogger, warn: (text: string) => void said.push(text) };
  const { upstreams } = createUpstreams({
    upstreams: [upstream('one', ['get', 'a__Read']), upstream('two', ['Get', 'a__read', 'put'])],
    logger,
    release: async () => {},
  });
  expect([...upstreams.tools()].map(([name, { server }]) => `${server}:${name}`)).toEqual(['one:get', 'one:a__Read', 'two:put']);
  expect(said).toEqual([
    'the tool "Get" of "two" is left out: "one" has one of that name',
    'the tool "a__read" of "two" is left out: "one" has one of that name',
  ]);
});
