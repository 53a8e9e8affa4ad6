import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpProcess, type Place, startMcp } from '../helpers/writ-process.ts';
import { crowdPlace, processesOf } from './crowd.ts';
import { fixture, gatewayPlace, listed } from './place.ts';

/** Servers that misbehave, all behind one door with a good one. What each does wrong is its own affair. */

const WORKING = ['good', 'banner', 'flood', 'hang-call', 'huge-line', 'change', 'exit-call', 'answers', 'split', 'stubborn', 'forks'];
const BROKEN = ['hang-initialize', 'hang-list', 'cursor'];
let place: Place;
let mcp: McpProcess;
let count: string;

beforeAll(async () => {
  place = gatewayPlace((at) => {
    count = join(at.workspace, 'count');
    const more = { low_impact: true, connect_timeout_seconds: 60, roots: [{ path: at.workspace, access: 'write' }] };
    const entry = (mode: string): object =>
      fixture(at, 'bad-neighbour.mjs', [mode, count], {
        ...more,
        ...(mode.startsWith('hang-') ? { timeout_seconds: 1 } : {}),
        ...(BROKEN.includes(mode) && mode !== 'cursor' ? { connect_timeout_seconds: 3 } : {}),
      });
    return Object.fromEntries([...WORKING, ...BROKEN].map((mode) => [mode, entry(mode)]));
  });
  mcp = await startMcp(place);
  await listed(mcp, ...WORKING.map((mode) => `${mode}__act`));
});
afterAll(async () => {
  await mcp.end();
  place.remove();
});

const act = (mode: string, n = 0): ReturnType<McpProcess['call']> => mcp.call(`${mode}__act`, { n });

test('one that hangs at the start, at its list, or lists for ever is left out with its reason', async () => {
  // Each says it on its own time; the good one answers meanwhile.
  while (!BROKEN.every((mode) => mcp.stderr().includes(`writ: skipped "${mode}"`))) expect((await act('good')).isError).toBe(false);
  for (const mode of ['hang-initialize', 'hang-list'])
    expect(mcp.stderr()).toContain(`writ: skipped "${mode}": it was not ready within 3 s (connect_timeout_seconds)`);
  expect(mcp.stderr()).toContain('writ: skipped "cursor": tools/list goes round in circles');
  const all = await listed(mcp);
  for (const mode of BROKEN) expect(all).not.toContain(`${mode}__act`);
});

test.each(['banner', 'flood', 'answers', 'split', 'stubborn', 'forks'])(
  '%s: calls are answered, each with its own answer',
  async (mode) => {
    const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => act(mode, n)));
    expect(answers.map(({ text }) => /^acted 漢字😀 (\d)$/m.exec(text)?.[1])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  },
);

test('hang-call: the call ends at its deadline, the connection stays, and the late answer is for nobody', async () => {
  const late = await act('hang-call', 1);
  expect(late).toMatchObject({ isError: true, text: expect.stringContaining('No answer came within 1000 ms') });
  expect((await act('hang-call', 2)).text).toContain('acted 漢字😀 2');
  expect(mcp.stderr()).not.toContain('"hang-call": its connection ended');
});

test('huge-line: the waiter hears the limit, and the next call meets a new connection', async () => {
  expect((await act('huge-line', 1)).text).toMatch(/more than 10485760 bytes \(max_response_bytes\).*It may have run/);
  expect((await act('huge-line', 2)).text).toContain('acted');
});

test('change: a tool that becomes another one is held back until a person looked', async () => {
  expect((await act('change')).text).toContain('acted');
  let next = await act('change');
  // One that was let through before the change was seen isn't sent any more.
  while (!next.isError || next.text.includes('backend_changed')) next = await act('change');
  expect(next.text).toContain('tool_unapproved');
  expect(await listed(mcp)).not.toContain('change__act');
});

test('exit-call: the outcome is unknown, and the call was made once', async () => {
  expect((await act('exit-call')).text).toMatch(/outcome_unknown[\s\S]*it exited with 3/);
  // It is started again for the next one, which is another call.
  expect((await act('exit-call')).text).toContain('outcome_unknown');
  expect(readFileSync(count, 'utf8')).toBe('called\ncalled\n');
});

test('the end of Writ is the end of all of them, whatever they ignore and whoever they started', async () => {
  expect(processesOf(place.workspace, mcp.child.pid).length).toBeGreaterThan(WORKING.length);
  expect(await mcp.end()).toBe(0);
  expect(processesOf(place.workspace, mcp.child.pid)).toEqual([]);
});

/** `npm run test:soak -- neighbours` has a hundred, and looks at the good one's latency. */
const CROWD = 30;

test('a crowd of them at once, and a good one that answers', async () => {
  const many = crowdPlace(CROWD);
  const crowd = await startMcp(many);
  try {
    await listed(crowd, 'good__act');
    for (let n = 0; n < 20; n++) expect((await crowd.call('good__act', { n })).text).toContain(`acted 漢字😀 ${n}`);
  } finally {
    expect(await crowd.end()).toBe(0);
    expect(processesOf(many.workspace)).toEqual([]);
    many.remove();
  }
});
