import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callTool, http, makeToken, openPage, postForm, startUp, type UpProcess } from '../helpers/up-process.ts';
import { makePlace, type Place, runWrit } from '../helpers/writ-process.ts';

let place: Place;
let up: UpProcess;
let token: string;
let other: string;

const mcp = (workspace = ''): string => `${up.url}/mcp${workspace}`;
const events = async (type: string): Promise<readonly { type: string; agent?: string; data: Record<string, unknown> }[]> =>
  JSON.parse((await runWrit(place, ['audit', 'list', '--type', type, '--json'])).stdout).events;

beforeAll(async () => {
  place = makePlace();
  other = join(place.workspace, '..', 'other');
  mkdirSync(other);
  await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
  await runWrit(place, ['workspace', 'add', 'other', other]);
  token = await makeToken(place, 'ci', ['-w', 'main']);
  up = await startUp(place);
});
afterAll(async () => {
  expect(await up.end()).toBe(0);
  place.remove();
});

describe('agents', () => {
  test('the token is in a file that only its owner reads, and in no output', async () => {
    expect(statSync(join(place.home, 'tokens')).mode & 0o777).toBe(0o700);
    expect(statSync(join(place.home, 'tokens', 'ci')).mode & 0o777).toBe(0o600);
    const shown = await runWrit(place, ['token', 'create', 'shown', '--show']);
    expect(shown).toMatchObject({ code: 2, stdout: '' });
    const listed = await runWrit(place, ['token', 'list', '--json']);
    expect(listed.stdout + up.stderr()).not.toMatch(/writ_at_/);
    const pasted = await runWrit(place, ['connect', '--http', '--token', 'ci', '--workspace', 'main']);
    expect(pasted.stdout).toContain(`${up.url}/mcp/w/main`);
    expect(pasted.stdout).toContain(join(place.home, 'tokens', 'ci'));
    expect(pasted.stdout).toMatch(/^ {4}claude mcp add .* --header 'Authorization: Bearer \$\{WRIT_TOKEN\}'$/m);
    expect(pasted.stdout).not.toContain(token);
    const one = await runWrit(place, ['connect', 'vs-code', '--http', '--token', 'ci']);
    expect(one.stdout).toContain(`Token of Writ, in ${join(place.home, 'tokens', 'ci')}`);
    expect(one.stdout).not.toContain('WRIT_TOKEN');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'ci', agent: 'agent_ci', workspaces: ['main'] }]);
  });

  test('a token opens the endpoints of its own Workspaces, and works where it is bound to', async () => {
    const here = await callTool(mcp(), token, 'shell', { command: 'pwd' });
    expect(here.tool()).toContain(realpathSync(place.workspace));
    expect((await callTool(mcp('/w/main'), token, 'shell', { command: 'pwd' })).tool()).toContain(realpathSync(place.workspace));
    expect((await callTool(mcp('/w/other'), token, 'shell', { command: 'pwd' })).status).toBe(404);
    expect((await callTool(mcp('/w/nothing'), token, 'shell', { command: 'pwd' })).status).toBe(404);
    const two = await makeToken(place, 'two', ['-w', 'other', '-w', 'main']);
    expect((await callTool(mcp(), two, 'shell', { command: 'pwd' })).tool()).toContain(realpathSync(other));
    const none = await makeToken(place, 'none');
    expect((await callTool(mcp(), none, 'shell', { command: 'pwd' })).tool()).toContain('bound to no workspace');
  });

  test.each([
    ['none', ''],
    ['without a token', 'Bearer'],
    ['of another shape', 'Bearer x'],
    ['of another scheme', 'Basic eDp5'],
    ['that nobody made', `Bearer writ_at_${'a'.repeat(43)}`],
    ['that is huge', `Bearer ${'x'.repeat(10_000)}`],
  ])('a credential %s is refused', async (_what, authorization) => {
    const answer = await http(mcp(), { method: 'POST', headers: authorization === '' ? {} : { authorization }, body: '{}' });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('Bearer');
    expect(answer.text).not.toContain('aaaa');
  });

  test('a refusal arrives although nobody read the body', async () => {
    const answer = await http(mcp(), { method: 'POST', headers: { authorization: 'Bearer x' }, body: 'x'.repeat(500_000) });
    expect(answer.status).toBe(401);
  });

  test('a toolset hides tools, and a project may hide more of them in its folder', async () => {
    const narrow = join(other, 'narrow');
    mkdirSync(narrow);
    writeFileSync(join(narrow, 'writ.json'), JSON.stringify({ dangerous: { classes: { nonsense: 'deny' } } }));
    await runWrit(place, ['workspace', 'add', 'narrow', narrow]);
    const its = await makeToken(place, 'narrow', ['-w', 'narrow']);
    // A file that can't be used refuses its own folder, until somebody has mended it.
    expect((await callTool(mcp(), its, 'job_list', {})).tool()).toContain('config_invalid');
    writeFileSync(join(narrow, 'writ.json'), JSON.stringify({ tools: { toolsets: { default: ['job_list'] } } }));
    expect((await callTool(mcp(), its, 'job_list', {})).tool()).toContain('no such jobs');
    expect((await callTool(mcp(), its, 'shell', { command: 'true' })).tool()).toContain('not in the toolset');
    expect((await runWrit(place, ['token', 'create', 'lost', '--toolset', 'nonsense'])).stderr).toContain('no toolset');
  });

  test('revoking ends what runs for it and lets nothing new in', async () => {
    const gone = await makeToken(place, 'gone', ['-w', 'main']);
    const running = callTool(mcp(), gone, 'shell', { command: 'touch began; sleep 300' }).catch((error: Error) => error.message);
    await expect.poll(() => existsSync(join(place.workspace, 'began')), { timeout: 30_000 }).toBe(true);
    expect((await runWrit(place, ['token', 'revoke', 'gone'])).code).toBe(0);
    await expect.poll(async () => (await callTool(mcp(), gone, 'shell', { command: 'true' })).status, { timeout: 30_000 }).toBe(401);
    await running;
    const outcomes = async (): Promise<unknown[]> =>
      (await events('action.finished')).filter(({ agent }) => agent === 'agent_gone').map(({ data }) => data['outcome']);
    await expect.poll(outcomes, { timeout: 30_000 }).toContain('cancelled');
    expect(existsSync(join(place.home, 'tokens', 'gone'))).toBe(false);
    expect((await events('token.revoked'))[0]).toMatchObject({ agent: 'agent_gone' });
  });

  test('stateless calls of an agent in a Workspace are one Run', async () => {
    const runs = async (): Promise<unknown[]> =>
      (await events('action.decided')).filter(({ agent }) => agent === 'agent_ci').map((event) => Reflect.get(event, 'run'));
    await callTool(mcp(), token, 'shell', { command: 'true' });
    expect(new Set(await runs()).size).toBe(1);
  });
});

describe('health', () => {
  test('says that it lives and which parts are ready, to whoever asks', async () => {
    expect(JSON.parse((await http(`${up.url}/healthz`, { headers: { host: '10.0.0.1' } })).text)).toEqual({ status: 'ok' });
    const ready = await http(`${up.url}/readyz`);
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.text)).toMatchObject({ ready: true, parts: { store: 'ready', mcp: 'ready', page: 'ready', socket: 'ready' } });
    expect((await http(`${up.url}/healthz`, { method: 'POST' })).status).toBe(405);
  });
});

describe('a second server', () => {
  test('of another home on the same port is told who has it', async () => {
    const elsewhere = makePlace();
    const port = new URL(up.url).port;
    const { code, stderr } = await runWrit(elsewhere, ['up', '--port', port]);
    elsewhere.remove();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port} is taken by`);
    expect(stderr).toContain(`pid ${up.child.pid}`);
    expect(stderr).toContain('--port');
  });

  test('of the same home is refused, whatever the port', async () => {
    const { code, stderr } = await runWrit(place, ['up', '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toContain('runs already');
    expect((await http(`${up.url}/readyz`)).text).toContain('"socket":"ready"');
  });
});

describe('the page', () => {
  test('opens with a link, once, for one browser', async () => {
    const page = await openPage(up);
    expect(page.cookie).toMatch(/^writ_operator=[\w-]+; Max-Age=43200; Path=\/op\/[\w-]+\/; HttpOnly; SameSite=Strict/);
    expect(await page.html()).toContain('Waiting for an answer');
    const again = await postForm(`${up.url}/open`, { key: up.link.split('#')[1] ?? '' }, { origin: up.url });
    expect(again.status).toBe(401);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect((await http(page.address)).status).toBe(401);
    expect((await http(page.address, { headers: { cookie: 'writ_operator=x' } })).status).toBe(401);
    expect((await http(`${up.url}/op/x/`, { headers: page.headers })).status).toBe(401);
    // A program has no terminal to show a link on.
    expect(await runWrit(place, ['link'])).toMatchObject({ code: 10, stdout: '' });
    const left = await page.act('leave', {});
    expect(left.status).toBe(303);
    expect((await http(page.address, { headers: page.headers })).status).toBe(401);
  });
});

test('a server that is told to end answers what runs, lets jobs go on, and exits with 0', async () => {
  const elsewhere = makePlace();
  await runWrit(elsewhere, ['workspace', 'add', 'main', elsewhere.workspace]);
  const its = await makeToken(elsewhere, 'ci', ['-w', 'main']);
  const server = await startUp(elsewhere);
  const job = await callTool(`${server.url}/mcp`, its, 'shell', {
    command: 'until [ -e go ]; do sleep 0.05; done; touch done',
    background: true,
  });
  expect(job.tool()).toContain('started as job');
  const running = callTool(`${server.url}/mcp`, its, 'shell', { command: 'touch began; sleep 300' });
  await expect.poll(() => existsSync(join(elsewhere.workspace, 'began')), { timeout: 30_000 }).toBe(true);
  const [answer, code] = await Promise.all([running, server.end()]);
  expect(answer.tool()).toContain('cancelled');
  expect(code).toBe(0);
  expect(existsSync(join(elsewhere.home, 'writ.sock'))).toBe(false);
  writeFileSync(join(elsewhere.workspace, 'go'), '');
  await expect.poll(() => existsSync(join(elsewhere.workspace, 'done')), { timeout: 30_000 }).toBe(true);
  expect(readFileSync(join(elsewhere.home, 'writ.db')).length).toBeGreaterThan(0);
  elsewhere.remove();
});
