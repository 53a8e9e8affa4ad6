import type { BrowserType } from 'playwright-core';
import type { BrowserProcess } from '../../../execution/index.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Engine } from '../types.ts';
import { openChromiumPage } from './page.ts';

/** As laptops have it; a screenshot is this large. */
const VIEWPORT = { width: 1280, height: 800 } as const;

/** AppError where Playwright isn't installed; otherwise what `start` rejects with. */
export async function createChromiumEngine(start: () => Promise<BrowserProcess>): Promise<Engine> {
  const playwright = await loadPlaywright();
  const process = await start();
  const browser = await playwright.connectOverCDP(process.transport).catch(async (thrown: unknown) => {
    await process.close();
    throw thrown;
  });
  return {
    mode: 'chromium',
    notes:
      process.sandbox === 'bubblewrap' ? ["the browser's own sandbox does not work on this machine; it runs inside bubblewrap only"] : [],
    async open(input) {
      const slot = process.openSlot(input.guard);
      if (slot === undefined) throw new AppError('busy', 'The browser shows as many pages as it can.');
      try {
        const context = await browser.newContext({
          proxy: { server: slot.proxy },
          viewport: VIEWPORT,
          acceptDownloads: false,
          serviceWorkers: 'block',
        });
        return await openChromiumPage(context, input.barred, { ended: process.ended, release: slot.close });
      } catch (thrown) {
        slot.close();
        throw thrown;
      }
    },
    ended: process.ended,
    async close() {
      // Its end is seen, whatever it says to being asked.
      await process.close();
    },
  };
}

/** Seven megabytes, and installed only where packages that are optional are. */
async function loadPlaywright(): Promise<BrowserType> {
  try {
    return (await import('playwright-core')).chromium;
  } catch (thrown) {
    throw new AppError('containment_unavailable', 'playwright-core, which drives Chromium, is not installed with Writ.', {
      fix: 'Install Writ again with its optional packages.',
      cause: thrown,
    });
  }
}
