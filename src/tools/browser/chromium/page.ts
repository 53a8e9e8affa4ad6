import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { AppError } from '../../../kernel/errors.ts';
import type { ToolImage } from '../../tool.ts';
import { pageGone } from '../page-gone.ts';
import { hostText } from '../places.ts';
import type { Act, BrowserPage, PageView } from '../types.ts';
import { type MainFrame, watchMainFrame } from './main-frame.ts';
import { pageError } from './page-error.ts';
import { hidePasswords } from './passwords.ts';
import { closeNewWindows } from './windows.ts';

/** For what a page must do before it can be clicked (appear, hold still, come out from under something). */
const READY_MS = 5_000;
/** Once its text is there, a page's pictures and scripts are waited for this long. */
const LOADED_MS = 3_000;
const LOOK_MS = 50;
/** After something was done: a page that goes elsewhere begins within this. */
const REACT_MS = 150;
/** For a context to go. */
const CLOSE_MS = 5_000;
const REASON_MS = 1_000;
/** Events kept between two calls; the rest is counted. */
const MAX_EVENTS = 20;
const EVENT_CHARS = 300;
/** Together with the base64 around it, what models take. */
const MAX_IMAGE_BYTES = 3_750_000;

export interface ContextParts {
  /** The browser as a whole. */
  readonly ended: Promise<string>;
  /** The page is closed. */
  release(): void;
}

/** The one page of a context. */
export async function openChromiumPage(
  context: BrowserContext,
  barred: (url: string) => Promise<string | undefined>,
  { ended, release }: ContextParts,
): Promise<BrowserPage> {
  const page = await context.newPage();
  const events: string[] = [];
  let omitted = 0;
  const happened = (text: string): void => {
    if (events.length < MAX_EVENTS) events.push(text.slice(0, EVENT_CHARS));
    else omitted += 1;
  };
  const main = await watchMainFrame(context, page, barred);
  await closeNewWindows(context, page, (url) => happened(`it opened a window, which was closed: ${url || 'without an address'}`));
  page.on('dialog', (dialog) => {
    // A page must not keep anybody from leaving it; everything else it asks is answered with no.
    const answer = dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss();
    if (dialog.type() !== 'beforeunload') happened(`it showed a dialog (${dialog.type()}), which was dismissed: ${dialog.message()}`);
    answer.catch(() => undefined);
  });
  page.on('download', (download) => {
    happened(`it offered a file for download, which was refused: ${download.url()}`);
    download.cancel().catch(() => undefined);
  });
  page.on('filechooser', () => happened('it asked for a file, which was refused'));
  const gone = Promise.withResolvers<string>();
  page.on('crash', () => gone.resolve('it crashed'));
  const withBrowser = ended.then((why) => gone.resolve(`the browser is: ${why}`));
  // A browser that ends closes its pages first; why it did is known a moment later.
  page.on(
    'close',
    () => void Promise.race([withBrowser, pause(REASON_MS, undefined, { ref: false })]).then(() => gone.resolve('it was closed')),
  );

  /** What fails because the page went away says only that; why it did is said here. */
  const explained = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (thrown) {
      const [said = ''] = thrown instanceof Error ? thrown.message.split('\n', 1) : [];
      // An address may have these words too, and the page be there.
      const closed = page.isClosed() || (/has been closed|crashed/.test(said) && !said.includes('net::'));
      const why = closed ? await Promise.race([gone.promise, pause(REASON_MS * 2, undefined, { ref: false })]) : undefined;
      throw why === undefined ? pageError(thrown, main.takeBarred()) : pageGone(why);
    }
  };

  return {
    url: () => page.url(),
    async perform(act) {
      try {
        return await explained(perform(page, main, act));
      } finally {
        for (const { url, why } of main.takeBarred()) happened(`it wanted to go to ${url}, which was refused: ${why}; use navigate for it`);
      }
    },
    view: () => explained(view(page)),
    screenshot: () => explained(screenshot(page)),
    takeEvents() {
      const taken = [...events.splice(0), ...(omitted > 0 ? [`${omitted} more events are not listed`] : [])];
      omitted = 0;
      return taken;
    },
    gone: gone.promise,
    async close() {
      // One that hangs goes with the browser; its way out is closed at once.
      await Promise.race([context.close().catch(() => undefined), ended, pause(CLOSE_MS, undefined, { ref: false })]);
      release();
    },
  };
}

async function perform(page: Page, main: MainFrame, act: Act): Promise<{ status?: number }> {
  switch (act.action) {
    case 'navigate': {
      const response = await page.goto(act.url, { waitUntil: 'domcontentloaded', timeout: 0 });
      await loaded(page);
      return response === null ? {} : { status: response.status() };
    }
    case 'back': {
      const before = page.url();
      const response = await page.goBack({ waitUntil: 'domcontentloaded', timeout: 0 });
      if (response === null && page.url() === before) throw new AppError('page_failed', 'There is no earlier page to go back to.');
      await loaded(page);
      return response === null ? {} : { status: response.status() };
    }
    case 'click':
      await (await found(page, act.ref)).click({ timeout: READY_MS });
      break;
    case 'type': {
      const field = await found(page, act.ref);
      await field.fill(act.text, { timeout: READY_MS });
      if (act.submit) await field.press('Enter', { timeout: READY_MS });
      break;
    }
    case 'press':
      if (act.ref === undefined) await page.keyboard.press(act.key);
      else await (await found(page, act.ref)).press(act.key, { timeout: READY_MS });
      break;
    case 'select':
      await (await found(page, act.ref)).selectOption([...act.values], { timeout: READY_MS });
      break;
  }
  await settled(page, main);
  return {};
}

/** An element of the last snapshot. A reference belongs to the document that it was given for. */
async function found(page: Page, ref: string): Promise<Locator> {
  const element = page.getByRef(ref);
  if ((await element.count()) > 0) return element;
  throw new AppError('not_found', `There is no element ${ref} on this page.`, {
    fix: 'References hold until the page changes: take a snapshot and use one of it.',
  });
}

/** What was done may have set the page in motion. The caller's bound holds for all of it. */
async function settled(page: Page, main: MainFrame): Promise<void> {
  await pause(REACT_MS);
  while (main.moving() && !page.isClosed()) await pause(LOOK_MS);
  await page.waitForLoadState('domcontentloaded', { timeout: 0 });
  await loaded(page);
}

/** A page whose last picture never comes is shown without it. */
async function loaded(page: Page): Promise<void> {
  await page.waitForLoadState('load', { timeout: LOADED_MS }).catch(() => undefined);
}

async function view(page: Page): Promise<PageView> {
  const lines = (await page.ariaSnapshot({ mode: 'ai', timeout: 0 })).split('\n');
  const urls = page.frames().map((frame) => URL.parse(frame.url()));
  const hosts = urls.flatMap((url) => (url === null || url.hostname === '' ? [] : [hostText(url)]));
  return { url: page.url(), title: await page.title(), lines: await hidePasswords(page, lines), hosts: [...new Set(hosts)] };
}

async function screenshot(page: Page): Promise<ToolImage> {
  const png = await page.screenshot({ type: 'png', timeout: 0 });
  if (png.length <= MAX_IMAGE_BYTES) return { mime_type: 'image/png', data: png.toString('base64') };
  const jpeg = await page.screenshot({ type: 'jpeg', quality: 60, timeout: 0 });
  return { mime_type: 'image/jpeg', data: jpeg.toString('base64') };
}
