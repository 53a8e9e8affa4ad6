import type { BrowserContext, Page } from 'playwright-core';

/** The page as a whole: where it may go, and whether it is on its way. */
export interface MainFrame {
  /** A navigation has begun and hasn't led anywhere yet. */
  moving(): boolean;
  /** Ways that were barred since it was last asked. */
  takeBarred(): readonly { readonly url: string; readonly why: string }[];
}

/**
 * Stands before every request for a document, each hop of a redirect included: Playwright's own routes don't see those. What frames in the
 * page load is judged where it is dialled, like its pictures.
 */
export async function watchMainFrame(
  context: BrowserContext,
  page: Page,
  barred: (url: string) => Promise<string | undefined>,
): Promise<MainFrame> {
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const main = frameTree.frame.id;
  let stopped: { url: string; why: string }[] = [];
  let moving = false;

  session.on('Fetch.requestPaused', ({ requestId, request, frameId }) => {
    const judge = async (): Promise<void> => {
      // What can't be judged is barred: a request that nobody answers would hold the page for ever.
      const why = frameId === main ? await barred(request.url).catch(() => UNJUDGED) : undefined;
      if (why === undefined) {
        moving ||= frameId === main;
        await session.send('Fetch.continueRequest', { requestId });
        return;
      }
      if (stopped.length < MAX_STOPPED) stopped.push({ url: request.url, why });
      moving = false;
      // Aborted, as by a person: the page that is there stays. Any other reason would put a page of errors in its place.
      await session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    };
    // The page has gone meanwhile, and its requests with it.
    judge().catch(() => undefined);
  });
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) moving = false;
  });
  page.on('requestfailed', (request) => {
    if (request.isNavigationRequest()) moving = false;
  });
  page.on('download', () => {
    moving = false;
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }] });
  return {
    moving: () => moving,
    takeBarred() {
      const taken = stopped;
      stopped = [];
      return taken;
    },
  };
}

const UNJUDGED = 'it could not be judged';

/** A page may try as often as it likes; it is told of a few. */
const MAX_STOPPED = 5;
