import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../../execution/browser/find-chromium.ts';
import { openChromiumPage } from './page.ts';

const CHROMIUM = findChromium();

/** What a page is told must come to an end, and say what it was: nobody waits for ever. */
describe.skipIf(CHROMIUM === undefined)('a page of Chromium (needs Chromium)', () => {
  let browser: Browser;
  const server = createServer((request) => request.socket.destroy());
  const open = async (barred: (url: string) => Promise<string | undefined>): ReturnType<typeof openChromiumPage> =>
    openChromiumPage(await browser.newContext(), barred, { ended: new Promise(() => {}), release: () => {} });
  const address = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  it('does not go where it could not be judged whether it may', async () => {
    const page = await open(() => Promise.reject(new Error('the list of jobs could not be read')));
    await expect(page.perform({ action: 'navigate', url: address('/') })).rejects.toMatchObject({
      code: 'denied_by_policy',
      message: expect.stringContaining('it could not be judged'),
    });
  });

  it('that is there is not waited for as one that has gone, whatever its address says', async () => {
    const page = await open(async () => undefined);
    await expect(page.perform({ action: 'navigate', url: address('/crashed') })).rejects.toMatchObject({
      code: 'page_failed',
      message: 'The page could not be opened (empty response).',
    });
  });
});
