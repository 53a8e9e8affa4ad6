import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOST, personAt } from '../helpers/person.ts';
import { callTool, makeToken, startUp, type UpProcess } from '../helpers/up-process.ts';
import { makePlace, type Place, runWrit } from '../helpers/writ-process.ts';

/**
 * `writ up`, the host of an agent and a person in a terminal, all started by this one test, as three windows are by one desktop. The host
 * connects over HTTP: its own terminals are the agent's, and that the person's has a parent in common with the server is no reason.
 */

const HTTP_HOST = fileURLToPath(new URL('../fixtures/http-host.ts', import.meta.url));

let place: Place;
let up: UpProcess;
let token: string;

beforeAll(async () => {
  place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'config.json'), '{"approvals": {"wait_seconds": 100}}', { mode: 0o600 });
  writeFileSync(join(place.workspace, '.env'), 'GREETING=hello\n');
  await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
  token = await makeToken(place, 'ci', ['-w', 'main']);
  up = await startUp(place);
});
afterAll(async () => {
  await up.end();
  place.remove();
});

const wait = { timeout: 60_000, interval: 100 };

async function pendingId(): Promise<string | undefined> {
  const { stdout } = await runWrit(place, ['approvals', 'list', '--state', 'pending', '--json']);
  return (JSON.parse(stdout) as { id: string }[])[0]?.id;
}

test('while nobody watches, the agent is told how its person opens the page', async () => {
  const { tool } = await callTool(`${up.url}/mcp`, token, 'shell', { command: 'cat .env' });
  expect(tool()).toMatch(/no_channel[\s\S]*run `writ link` in a terminal of your own and open the page/);
});

test('a terminal of the host is refused, one beside the server is not', async () => {
  const watcher = personAt(place, ['approvals', 'watch']);
  await expect.poll(() => watcher.screen(), wait).toContain('are shown here');
  const [wrapper, ...wrapped] = HOST;
  const argv = [...wrapped, process.execPath, '--disable-warning=ExperimentalWarning', HTTP_HOST, JSON.stringify(place)];
  const host = spawn(wrapper, [...argv, `${up.url}/mcp`, token, 'cat .env'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const told: Record<string, unknown>[] = [];
  createInterface({ input: host.stdout }).on('line', (line) => told.push(JSON.parse(line)));
  try {
    await expect.poll(() => watcher.screen(), wait).toContain('y yes, once');
    const id = await pendingId();

    host.stdin.write(`${id}\n`);
    await expect.poll(() => told, wait).toMatchObject([{ code: 11, screen: expect.stringContaining('nobody approves themselves') }]);
    expect(await pendingId()).toBe(id);

    const person = personAt(place, ['approvals', 'approve', id ?? '']);
    await expect.poll(() => person.screen(), wait).toContain('Type "yes"');
    person.type('yes\r');
    expect(await person.exited).toBe(0);
    await expect.poll(() => told[1], wait).toMatchObject({ answer: expect.stringContaining('GREETING=hello') });
  } finally {
    watcher.kill();
    host.kill();
  }
}, 120_000);
