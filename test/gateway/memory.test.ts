import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Place, startMcp } from '../helpers/writ-process.ts';
import { fixture, gatewayPlace, listed } from './place.ts';

/** What a server said the last time is there at the next start; what is called is what it has now. */

let place: Place;
beforeAll(() => {
  place = gatewayPlace((at) => ({
    one: fixture(at, 'bad-neighbour.mjs', ['good'], { connect_timeout_seconds: 3, idle_stop_seconds: 600 }),
  }));
});
afterAll(() => place.remove());

const script = (): string => join(place.workspace, 'bad-neighbour.mjs');

test('a server that hangs at the next start is listed all the same, and a call says that it is not there', async () => {
  const first = await startMcp(place);
  await listed(first, 'one__act');
  expect((await first.call('one__act', { n: 1 })).text).toContain('acted');
  await first.end();
  const [kept = ''] = readdirSync(join(place.home, 'upstreams'));
  expect(kept).toBe('one.json');
  expect(statSync(join(place.home, 'upstreams', kept)).mode & 0o777).toBe(0o600);

  const good = readFileSync(script(), 'utf8');
  writeFileSync(script(), 'setInterval(() => {}, 1000);\n');
  const second = await startMcp(place);
  const { tools } = (await second.ask('tools/list')) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain('one__act');
  // It was listed before the server was given up, and not after.
  expect(second.stderr()).not.toContain('skipped "one"');
  const call = await second.call('one__act', { n: 2 });
  expect(call).toMatchObject({ isError: true, text: expect.stringContaining('upstream_unavailable') });
  await second.end();
  writeFileSync(script(), good);
});

test('a tool that became another one meanwhile is not called', async () => {
  const good = readFileSync(script(), 'utf8');
  writeFileSync(
    script(),
    good
      .replace("'Acts')]", "'Acts on everything')]")
      .replace("tool('act', changed", "tool('act', true")
      .replace("? 'Acts in another way'", "? 'Acts on all of it'"),
  );
  const mcp = await startMcp(place);
  const call = await mcp.call('one__act', { n: 3 });
  expect(call.isError).toBe(true);
  expect(call.text).toMatch(/unknown_tool|There is no tool|backend_changed|tool_unapproved/);
  expect(call.text).not.toContain('acted');
  while ((await listed(mcp)).includes('one__act'));
  expect((await mcp.call('one__act', { n: 4 })).text).toContain('tool_unapproved');
  await mcp.end();
});
