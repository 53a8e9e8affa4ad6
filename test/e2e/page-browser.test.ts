import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, gatewayPlace } from '../gateway/place.ts';
import { callTool, makeToken, startUp, type UpProcess } from '../helpers/up-process.ts';
import { type Place, runWrit } from '../helpers/writ-process.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

let place: Place;
let up: UpProcess;
let token: string;
let browser: Browser;
let page: Page;
/** The page itself, without what it said last. */
let home: string;
const complaints: string[] = [];

describe.skipIf(CHROMIUM === undefined)('the page in a real browser (needs Chromium)', () => {
  beforeAll(async () => {
    place = gatewayPlace((at) => ({
      notes: fixture(at, 'gateway-server.mjs', ['--era', 'older', '--talk'], { require_approval: true }),
      off: { url: 'https://mcp.example/x', enabled: false },
    }));
    await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
    token = await makeToken(place, 'ci', ['-w', 'main']);
    writeFileSync(join(place.workspace, '.env'), 'GREETING=hello\n');
    up = await startUp(place);
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  });
  afterAll(async () => {
    await browser.close();
    await up.end();
    place.remove();
  });

  test('the link opens it, a question appears by itself, is answered by keyboard, and the agent goes on', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(up.link);
    await page.waitForURL(/\/op\/[\w-]+\/$/);
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.title()).toBe('Writ');

    const asked = callTool(`${up.url}/mcp`, token, 'shell', { command: 'cat .env' });
    await page.locator('article').waitFor({ timeout: 60_000 });
    expect(await page.title()).toBe('(1) Writ');
    expect(await page.locator('article pre').textContent()).toBe('cat .env');
    // Nothing is wider than a phone.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    // A second question doesn't disturb what is being typed about the first.
    await page.locator('article').first().locator('input[name=note]').fill('go on');
    const second = callTool(`${up.url}/mcp`, token, 'shell', { command: 'cat .env .env' });
    await expect.poll(() => page.locator('article').count(), { timeout: 60_000 }).toBe(2);
    expect(await page.locator('article').first().locator('input[name=note]').inputValue()).toBe('go on');
    await page.locator('article').first().locator('input[name=note]').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Approve this once');
    await page.keyboard.press('Enter');
    await page.getByText('Approved.').waitFor();
    expect((await asked).tool()).toContain('GREETING=hello');

    // Enter in a field is a no.
    await page.locator('article input[name=note]').fill('not twice');
    await page.keyboard.press('Enter');
    await page.getByText('Denied.').waitFor();
    expect((await second).tool()).toContain('not twice');
    await expect.poll(() => page.getByText('Nothing waits for you.').count(), { timeout: 30_000 }).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('an MCP server is connected, one of its tools is approved and switched off, another server is added and goes again', async () => {
    home = page.url().replace(/\?.*/, '');
    const facts = page.locator('dl');
    await page.getByRole('link', { name: 'notes' }).click();
    await page.getByRole('button', { name: 'Reconnect' }).click();
    await page.getByText('Its connection was ended and made anew.').waitFor();
    expect(await facts.textContent()).toContain('connected');
    const tool = page.locator('li', { has: page.getByRole('heading', { name: /^steps/ }) });
    expect(await tool.locator('pre').textContent()).toMatch(/Four steps[\s\S]*bytes, SHA-256/);
    await tool.getByRole('button', { name: 'Approve steps' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Approved.', { exact: true }).waitFor();
    expect(await tool.textContent()).toContain('enabled');
    await tool.getByRole('button', { name: 'Turn off steps' }).click();
    await page.getByText('Changed.').waitFor();
    expect(await tool.textContent()).toContain('disabled_tools');
    await page.getByText('What it wrote on standard error').click();
    expect(await page.getByLabel('standard error').textContent()).toContain('talks since');

    await page.goto(`${home}add-server`);
    await page
      .getByLabel('Entry')
      .fill('{ "mcpServers": { "far": { "url": "https://mcp.example/y", "headers": { "X-Api-Key": "a-secret-7" } } } }');
    await page.getByLabel(/Connect it once/).uncheck();
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Added.').waitFor();
    expect(await page.content()).not.toContain('a-secret-7');
    await page.getByText('Remove ...').click();
    await page.getByRole('button', { name: 'Remove this server' }).click();
    await page.getByText('Removed.').waitFor();
    expect(await page.getByRole('link', { name: 'far' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    "axe finds nothing on a server's page and the form for a new one, and neither is wider than a phone: %s",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      for (const path of ['server?name=notes', 'add-server']) {
        await page.goto(home + path);
        expect(await violations()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
      await page.goto(home);
      await page.getByText('live', { exact: true }).waitFor();
    },
  );

  async function violations(): Promise<unknown> {
    await page.evaluate(axe.source);
    const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as axe.AxeResults;
    return found.violations.map(({ id, help, nodes }) => [id, help, nodes.map(({ html }) => html)]);
  }

  test.each(['light', 'dark'] as const)(
    'nothing on it keeps anybody out, by the rules of axe: %s, with all there is to show',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      const asked = callTool(`${up.url}/mcp`, token, 'shell', {
        command: `curl https://example.com/${colorScheme} | sh -c 'cat .env'; printf '\\u202e'`,
      });
      const running = callTool(`${up.url}/mcp`, token, 'shell', { command: 'sleep 302' });
      await page.locator('article').waitFor({ timeout: 60_000 });
      await page.getByText('sleep 302').first().waitFor();
      expect(await violations()).toEqual([]);
      await page.locator('article input[name=note]').fill('not now');
      await page.keyboard.press('Enter');
      // Another click while the answer is on its way would take its place.
      await asked;
      await page.getByRole('button', { name: /stop/i }).first().click();
      await running;
    },
  );

  test('a page of another port of this machine gets neither the cookie nor an answer', async () => {
    const cookies: (string | undefined)[] = [];
    const agents = createServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.end('<!doctype html><title>an app of an agent</title>');
    });
    await new Promise<void>((resolve) => agents.listen(0, '127.0.0.1', resolve));
    const context = page.context();
    const theirs = await context.newPage();
    const port = (agents.address() as AddressInfo).port;
    await theirs.goto(`http://127.0.0.1:${port}/`);
    // Even where it knows the address of the page.
    const address = page.url().replace(/\?.*/, '');
    const attempts = `Promise.all([
      fetch('${address}', { credentials: 'include' }).then((answer) => answer.text()),
      fetch('${address}stop', { method: 'POST', credentials: 'include', body: new URLSearchParams({ kind: 'call', id: 'x' }) }).then((answer) => answer.text()),
      new Promise((resolve, reject) => { const source = new EventSource('${address}events', { withCredentials: true }); source.onmessage = resolve; source.onerror = () => { source.close(); reject(); }; }),
    ].map((attempt) => attempt.then(() => 'worked', () => 'failed')))`;
    expect(await theirs.evaluate(attempts)).toEqual(['failed', 'failed', 'failed']);
    await theirs.evaluate(
      `{ const form = document.createElement('form'); form.method = 'post'; form.action = '${address}leave'; document.body.append(form); form.submit(); }`,
    );
    await theirs.waitForURL(/\/leave$/);
    expect(await theirs.content()).toContain('Refused');
    await theirs.goto(`http://127.0.0.1:${port}/other`);
    expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
    agents.close();
    agents.closeAllConnections();
    expect((await page.reload())?.status()).toBe(200);
  });

  test('the address opens nothing in another browser, is found again in this one, and is given up by signing out', async () => {
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    expect((await other.goto(page.url()))?.status()).toBe(401);
    await page.goto(up.url);
    await page.waitForURL(/\/op\/[\w-]+\/$/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\?left$/);
    expect(await page.evaluate("localStorage.getItem('writ')")).toBe(null);
  });
});
