import { mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'config.json'), '{"approvals": {"wait_seconds": 5}}', { mode: 0o600 });
});
afterEach(async () => {
  for (const person of people) person.kill();
  await mcp?.end();
  mcp = undefined;
  place.remove();
});

const person = (args: readonly string[]): Person => {
  const made = personAt(place, args);
  people.push(made);
  return made;
};
const wait = { timeout: 40_000, interval: 50 };
const shows = (who: Person, text: string) => expect.poll(() => who.screen(), wait).toContain(text);

/** As a host does that can't ask: told that it is pending, it makes the same call again, and gets the outcome once. */
async function persistently(command: string): Promise<string> {
  for (;;) {
    const { text } = (await mcp?.call('shell', { command })) ?? { text: 'gone' };
    if (!text.includes('approval_pending')) return text;
  }
}

async function pendingId(): Promise<string> {
  const { stdout } = await runWrit(place, ['approvals', 'list', '--state', 'pending', '--json']);
  const [{ id }] = JSON.parse(stdout) as [{ id: string }];
  return id;
}

async function eventTypes(): Promise<string[]> {
  const { stdout } = await runWrit(place, ['audit', 'list', '--type', 'approval', '--json']);
  return (JSON.parse(stdout) as { events: { type: string }[] }).events.map(({ type }) => type).reverse();
}

const READ = 'cat .env; echo ran >> runs';
const HOST_NAMESPACE = readlinkSync('/proc/self/ns/pid');

test('watch and approve: a yes makes it work, once; a no with a note is told; without containment is the operator’s to say', async () => {
  mcp = await startMcp(place, { argv: [...HOST, ...WRIT] });
  expect((await mcp.call('shell', { command: READ })).text).toContain('writ approvals watch');
  const watcher = person(['approvals', 'watch']);
  await shows(watcher, 'are shown here');
  /** The next question, once its keys are offered. */
  let asked = 0;
  const nextQuestion = async (): Promise<void> => {
    asked += 1;
    await expect.poll(() => watcher.screen().split('y yes, once').length - 1, wait).toBe(asked);
  };

  const yes = persistently(READ);
  await nextQuestion();
  expect(watcher.screen()).toContain('cat .env; echo ran >> runs');
  watcher.type('y');
  expect(await yes).toContain('GREETING=hello');
  await shows(watcher, 'Approved, once.');

  const no = persistently('cat .env');
  await nextQuestion();
  watcher.type('n');
  await shows(watcher, 'A note for the agent');
  watcher.type('not today\r');
  expect(await no).toMatch(/denied_by_human[\s\S]*not today/);

  const bare = persistently('docker --host unix:///nowhere ps; readlink /proc/self/ns/pid');
  await nextQuestion();
  expect(watcher.screen()).toContain('without containment');
  watcher.type('y');
  expect(await bare).toContain(HOST_NAMESPACE);

  const byId = persistently('cat .env # by id');
  await nextQuestion();
  const id = await pendingId();
  expect((await runWrit(place, ['approvals', 'approve', id], { input: 'yes\n' })).code).toBe(11);
  const approver = person(['approvals', 'approve', id]);
  // The second secret within a minute: the hand alone doesn't do.
  await shows(approver, 'Type "reveal"');
  approver.type('reveal\r');
  expect(await byId).toContain('GREETING=hello');
  await shows(watcher, 'Over: ');
  watcher.type('q');
  expect([await approver.exited, await watcher.exited]).toEqual([0, 0]);
  expect(await eventTypes()).toEqual(
    ['used', 'decided', 'used', 'used']
      .flatMap((last) => ['requested', 'decided', ...(last === 'used' ? ['used'] : [])])
      .map((verb) => `approval.${verb}`),
  );
}, 120_000);

test('nobody approves themselves: a terminal under the program that asks, or its host, is refused and recorded', async () => {
  // Without a host in between, the test itself is the host, and every terminal it opens belongs to it.
  mcp = await startMcp(place);
  const watcher = person(['approvals', 'watch']);
  await shows(watcher, 'are shown here');
  const answer = mcp.call('shell', { command: READ }).catch(() => undefined);
  await shows(watcher, "can't be answered here");
  const id = await pendingId();
  const attempts = ['approve', 'deny'].map((verb) => person(['approvals', verb, id]));
  for (const attempt of attempts) {
    expect(await attempt.exited).toBe(11);
    expect(attempt.screen()).toContain('nobody approves themselves');
  }
  expect(await eventTypes()).toEqual(['approval.requested', 'approval.refused', 'approval.refused']);
  await mcp.end();
  await answer;
}, 120_000);
