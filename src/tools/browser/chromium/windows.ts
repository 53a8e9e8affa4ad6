import type { BrowserContext, Page } from 'playwright-core';

/** How long a new window has to say where it goes before it is closed. */
const NAME_MS = 300;
/** One that is not announced by then is closed without being waited for. */
const UNANNOUNCED_MS = 5_000;

/**
 * Closes every window that a page opens: there is one page, and where it goes is decided before. `opened` is told where the window was to
 * lead; what it loads until then it could have loaded as a frame.
 */
export async function closeNewWindows(context: BrowserContext, page: Page, opened: (url: string) => void): Promise<void> {
  // Only once Playwright knows it: a click waits for the window that it opens, and would wait for ever for one that is gone before.
  context.on('page', (window) => {
    if (window === page) return;
    const close = (): void => {
      if (window.isClosed()) return;
      opened(window.url());
      window.close().catch(() => undefined);
    };
    setTimeout(close, NAME_MS).unref();
  });
  const browser = context.browser();
  if (browser === null) return;
  const own = await context.newCDPSession(page);
  const { targetInfo } = await own.send('Target.getTargetInfo');
  const session = await browser.newBrowserCDPSession();
  session.on('Target.targetCreated', ({ targetInfo: { targetId, type, openerId } }) => {
    if (type !== 'page' || openerId !== targetInfo.targetId) return;
    // Mostly it is closed by then.
    const close = (): void => void session.send('Target.closeTarget', { targetId }).catch(() => undefined);
    setTimeout(close, UNANNOUNCED_MS).unref();
  });
  await session.send('Target.setDiscoverTargets', { discover: true });
  context.on('close', () => void session.detach().catch(() => undefined));
}
