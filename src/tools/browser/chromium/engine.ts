import type { Browser } from 'playwright-core';
import type { BrowserProcess } from '../../../execution/index.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Engine } from '../types.ts';
import { openChromiumPage } from './page.ts';

/** As laptops have it; a screenshot is this large. */
const VIEWPORT = { width: 1280, height: 800 } as const;

/** Drives a Chromium that is running already. Rejects when Playwright isn't installed or can't talk to it. */
export async function createChromiumEngine(process: BrowserProcess): Promise<Engine> {
  const browser = await connect(process);
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

async function connect(process: BrowserProcess): Promise<Browser> {
  try {
    // Three megabytes, and installed only where packages that are optional are.
    const { chromium } = await import('playwright-core');
    return await chromium.connectOverCDP(process.transport);
  } catch (thrown) {
    await process.close();
    throw thrown;
  }
}
