import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOST, type Person, personAt } from '../helpers/person.ts';
import { type McpProcess, makePlace, type Place, runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';

/** An agent behind a client that can't ask anybody, and a person in a terminal of their own. */

let place: Place;
let mcp: McpProcess | undefined;
let people: Person[];

beforeEach(() => {
  place = makePlace();
  people = [];
  writeFileSync(join(place.workspace, '.env'), 'GREETING=hello\n');
});
afterEach(async () => {
  for (const person of people) person.kill();
  await mcp?.end();
  mcp = undefined;
  place.remove();
});

const start = async (): Promise<McpProcess> => {
  mcp = await startMcp(place, { argv: [...HOST, ...WRIT] });
  return mcp;
};
const person = (args: readonly string[]): Person => {
  const made = personAt(place, args);
  people.push(made);
  return made;
};
const wait = { timeout: 20_000, interval: 50 };
const shows = (who: Person, text: string) => expect.poll(() => who.screen(), wait).toContain(text);

async function eventTypes(): Promise<string[]> {
  const { stdout } = await runWrit(place, ['audit', 'list', '--type', 'approval', '--json']);
  return (JSON.parse(stdout) as { events: { type: string }[] }).events.map(({ type }) => type).reverse();
}

const READ = { command: 'cat .env; echo ran >> runs' };

describe('writ approvals', () => {
  test('watch: the question comes, a yes makes it work once, a no with a note is told', async () => {
    const agent = await start();
    const refused = await agent.call('shell', READ);
    expect(refused.text).toContain('writ approvals watch');
    const watcher = person(['approvals', 'watch']);
    await shows(watcher, 'are shown here');

    const first = agent.call('shell', READ);
    await shows(watcher, 'y yes, once');
    expect(watcher.screen()).toContain('cat .env; echo ran >> runs');
    watcher.type('y');
    expect((await first).text).toContain('GREETING=hello');
    await shows(watcher, 'Approved, once.');

    const second = agent.call('shell', { command: 'cat .env' });
    await expect.poll(() => watcher.screen().split('y yes, once').length, wait).toBe(3);
    watcher.type('n');
    await shows(watcher, 'A note for the agent');
    watcher.type('not today\r');
    expect((await second).text).toMatch(/denied_by_human[\s\S]*not today/);
    watcher.type('q');
    expect(await watcher.exited).toBe(0);
    expect(await eventTypes()).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.used',
      'approval.requested',
      'approval.decided',
    ]);
  }, 60_000);

  test('approve by id, not from a pipe: the waiting call goes on, and the other terminal sees it', async () => {
    const agent = await start();
    const watcher = person(['approvals', 'watch']);
    await shows(watcher, 'are shown here');
    const answer = agent.call('shell', READ);
    await shows(watcher, 'y yes, once');
    const { stdout } = await runWrit(place, ['approvals', 'list', '--state', 'pending', '--json']);
    const [{ id }] = JSON.parse(stdout) as [{ id: string }];
    expect((await runWrit(place, ['approvals', 'approve', id], { input: 'yes\n' })).code).toBe(11);

    const approver = person(['approvals', 'approve', id]);
    await shows(approver, 'Type "yes"');
    approver.type('yes\r');
    expect(await approver.exited).toBe(0);
    expect((await answer).text).toContain('GREETING=hello');
    await shows(watcher, 'Over: ');
  }, 60_000);

  test('nobody approves themselves: a terminal under the program that asks, or its host, is refused and recorded', async () => {
    // Without a host in between, the test itself is the host, and every terminal it opens belongs to it.
    mcp = await startMcp(place);
    const watcher = person(['approvals', 'watch']);
    await shows(watcher, 'are shown here');
    const answer = mcp.call('shell', READ);
    await shows(watcher, "can't be answered here");
    const { stdout } = await runWrit(place, ['approvals', 'list', '--state', 'pending', '--json']);
    const [{ id }] = JSON.parse(stdout) as [{ id: string }];
    for (const verb of ['approve', 'deny']) {
      const attempt = person(['approvals', verb, id]);
      expect(await attempt.exited).toBe(11);
      expect(attempt.screen()).toContain('nobody approves themselves');
    }
    expect(await eventTypes()).toEqual(['approval.requested', 'approval.refused', 'approval.refused']);
    await mcp.end();
    mcp = undefined;
    await answer.catch(() => {});
  }, 60_000);
});
