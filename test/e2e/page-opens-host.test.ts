import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Up } from '../../src/cli/index.ts';
import { makeWorld } from '../../src/execution/network/testing.ts';
import { listPids } from '../../src/execution/running/proc.ts';
import { readProcess } from '../../src/kernel/config/index.ts';
import { BWRAP_CANDIDATES, createLocalExecution } from '../../src/main/parts/execution.ts';
import { openIdentity } from '../../src/main/parts/identity.ts';
import { startUp } from '../../src/main/parts/up.ts';
import { createBrowsers } from '../../src/tools/browser/index.ts';
import { openParts } from '../helpers/composed.ts';
import { RUNNER } from '../helpers/programs.ts';
import { makeToken } from '../helpers/up-process.ts';
import { makePlace, type Place, runWrit } from '../helpers/writ-process.ts';
import { type Message, member, open } from '../mcp/http/client.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const HOST = 'news.example';

/** `writ up` as it is composed, but that its browser lives in a world in which the host is a server of the test. */
async function serveUp({ home, workspace, env }: Place, makeGuard: ReturnType<typeof makeWorld>['makeGuard']): Promise<Up> {
  const facts = { ...readProcess(), cwd: workspace, host_env: env };
  const { asking, database, ...parts } = await openParts(facts, home, undefined);
  const { clock, logger } = parts;
  const browsers = { home, bwrap_candidates: BWRAP_CANDIDATES, reader: new URL('../../src/main/page-reader.ts', import.meta.url) };
  const browsing = createBrowsers({ ...browsers, clock, logger }, { makeGuard });
  return startUp({
    ...parts,
    asking: async () => asking,
    browsing: async () => browsing,
    identity: openIdentity({ ...database, clock, logger, facts, home }),
    makeExecution: (its, settings) => createLocalExecution({ facts: its, home, config: settings, runner: RUNNER, logger, clock }),
    port: 0,
  });
}

/** What the command of the test is. */
function sleeping(): readonly number[] {
  const words = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      // It has just gone.
      return '';
    }
  };
  return (listPids() ?? []).filter((pid) => words(pid) === 'sleep\x007321\x00');
}

describe.skipIf(CHROMIUM === undefined)('a person at the page opens a host for the browser (needs Chromium)', () => {
  const world = makeWorld();
  const asked: string[] = [];
  /** What the page waits for and never gets: it is there as long as the page is. */
  let waiting: ServerResponse | undefined;
  const news = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/never') waiting = response;
    else response.setHeader('content-type', 'text/html').end("<!doctype html><h1>Read all about it</h1><script>fetch('/never')</script>");
  });
  let place: Place;
  let token: string;
  let up: Up;
  let browser: Browser;

  beforeAll(async () => {
    await new Promise<void>((done) => news.listen(0, '127.0.0.1', done));
    world.places.set(`${HOST}:80`, (news.address() as AddressInfo).port);
    place = makePlace();
    mkdirSync(place.home, { recursive: true, mode: 0o700 });
    await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
    token = await makeToken(place, 'ci', ['-w', 'main']);
    up = await serveUp(place, world.makeGuard);
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  });
  afterAll(async () => {
    await browser?.close();
    await up?.close();
    news.closeAllConnections();
    news.close();
    place?.remove();
  });

  test('the question is a card, the yes opens that host, the agent gets its text; with the session its page and its command are gone', async () => {
    const page = await browser.newPage();
    await page.goto(await up.link());
    await page.getByText('live', { exact: true }).waitFor();

    const agent = await open(`${up.url}/mcp`, '2025-11-25', {}, `Bearer ${token}`);
    const navigate = (id: number): Promise<unknown> =>
      agent.call(id, 'browser', { action: 'navigate', url: `http://${HOST}/` }).then((reply) => member(reply, 'result'));
    const answer = navigate(1);
    const card = page.locator('article');
    await card.waitFor();
    expect(await card.locator('pre').textContent()).toBe(`browser navigate http://${HOST}/`);
    expect(await card.textContent()).toContain(`the network to ${HOST}`);
    expect(asked).toEqual([]);
    await card.getByRole('button', { name: 'Approve this once' }).click();
    const result = (await answer) as Message;
    expect(result['isError']).toBeFalsy();
    expect(JSON.stringify(result['content'])).toContain('Read all about it');
    // The yes holds as long as the page does: it is not asked again.
    expect((await navigate(2)) as Message).not.toMatchObject({ isError: true });

    await expect.poll(() => waiting, { timeout: 10_000 }).toBeDefined();
    const working = agent.call(3, 'shell', { command: 'sleep 7321' });
    await expect.poll(sleeping, { timeout: 30_000 }).toHaveLength(1);
    const gone = new Promise((resolve) => waiting?.on('close', () => resolve('closed')));
    const ended = await fetch(`${up.url}/mcp`, { method: 'DELETE', headers: agent.headers });
    expect(ended.status).toBe(204);
    expect(await gone).toBe('closed');
    expect(member(await working, 'result')).toMatchObject({ isError: true });
    expect(sleeping()).toEqual([]);
    expect(await page.locator('article').count()).toBe(0);
  });
});
