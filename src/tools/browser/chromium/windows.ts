import type { BrowserContext, Page } from 'playwright-core';

/** How long a new window has to say where it goes before it is closed. */
const NAME_MS = 400;

/**
 * Closes every window that a page opens: there is one page, and where it goes is decided before. `opened` is told where the window was to
 * lead; what it loads until then it could have loaded as a frame.
 */
export async function closeNewWindows(context: BrowserContext, page: Page, opened: (url: string) => void): Promise<void> {
  const own = await context.newCDPSession(page);
  const { targetInfo } = await own.send('Target.getTargetInfo');
  const browser = context.browser();
  if (browser === null) return;
  const session = await browser.newBrowserCDPSession();
  /** Told apart by their ids, with the address they were last seen at. */
  const windows = new Map<string, string>();
  const close = (targetId: string): void => {
    const url = windows.get(targetId);
    if (url === undefined) return;
    windows.delete(targetId);
    opened(url);
    // Closed already, by the page or with the whole context.
    session.send('Target.closeTarget', { targetId }).catch(() => undefined);
  };
  session.on('Target.targetCreated', ({ targetInfo: { targetId, type, openerId, url } }) => {
    if (type !== 'page' || openerId !== targetInfo.targetId) return;
    windows.set(targetId, url);
    // Not at once: what is clicked waits for the window that the click opens.
    setTimeout(close, NAME_MS, targetId).unref();
  });
  session.on('Target.targetInfoChanged', ({ targetInfo: { targetId, url } }) => {
    if (windows.has(targetId) && url !== '') windows.set(targetId, url);
  });
  await session.send('Target.setDiscoverTargets', { discover: true });
  context.on('close', () => void session.detach().catch(() => undefined));
}
