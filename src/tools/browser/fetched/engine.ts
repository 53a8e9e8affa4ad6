import { AppError } from '../../../kernel/errors.ts';
import { hostText } from '../places.ts';
import type { Act, BrowserPage, Engine, PageInput } from '../types.ts';
import { fetchDocument } from './fetch-document.ts';
import { type Readable, readPage } from './read-page.ts';

const MAX_HISTORY = 20;

interface Visit {
  readonly url: URL;
  readonly status: number;
  readonly cut: boolean;
  readonly document: Readable;
}

/** Without a browser: documents are fetched and read, scripts don't run, and only links can be followed. `why`: what is missing. `reader`: the program of the thread that reads a page. */
export function createFetchEngine(why: string, reader: URL): Engine {
  return {
    mode: 'fetch',
    notes: [`fetch-and-parse mode: no scripts, forms or screenshots, only navigate, snapshot, back, close and links by reference. ${why}`],
    open: async (input) => openFetchedPage(input, reader),
    ended: new Promise(() => undefined),
    close: async () => undefined,
  };
}

function openFetchedPage({ guard, barred }: PageInput, reader: URL): BrowserPage {
  const closing = new AbortController();
  const history: Visit[] = [];
  let visits = 0;
  const current = (): Visit => {
    const visit = history.at(-1);
    if (visit === undefined) throw new AppError('not_found', 'No page is open.', { fix: 'Open one with navigate.' });
    return visit;
  };
  const go = async (address: string): Promise<{ status: number }> => {
    const { url, status, kind, text, cut } = await fetchDocument(address, { guard, barred, signal: closing.signal });
    const prefix = visits === 0 ? '' : `f${visits}`;
    const document: Readable =
      kind === 'html'
        ? await readPage(reader, { html: text, base: url.href, prefix }, closing.signal)
        : { title: '', lines: text.split('\n'), links: new Map() };
    visits += 1;
    history.push({ url, status, cut, document });
    if (history.length > MAX_HISTORY) history.shift();
    return { status };
  };
  return {
    url: () => history.at(-1)?.url.href ?? 'about:blank',
    perform(act) {
      switch (act.action) {
        case 'navigate':
          return go(act.url);
        case 'click':
          return go(linkOf(current(), act.ref));
        case 'back': {
          if (history.length < 2) throw new AppError('page_failed', 'There is no earlier page to go back to.');
          history.pop();
          return Promise.resolve({ status: current().status });
        }
        default:
          throw needsBrowser(act.action);
      }
    },
    async view() {
      const { url, cut, document } = current();
      const lines = cut ? [...document.lines, '[the document is longer than 2 MiB; its rest was not read]'] : document.lines;
      return { url: url.href, title: document.title, lines, hosts: [hostText(url)] };
    },
    screenshot: () => Promise.reject(needsBrowser('screenshot')),
    takeEvents: () => [],
    gone: new Promise(() => undefined),
    async close() {
      closing.abort();
      history.length = 0;
    },
  };
}

function linkOf({ document }: Visit, ref: string): string {
  const url = document.links.get(ref);
  if (url !== undefined) return url;
  throw new AppError('not_found', `There is no link ${ref} on this page.`, {
    fix: 'Without a browser only links can be clicked: use a reference of the last snapshot.',
  });
}

function needsBrowser(action: Act['action'] | 'screenshot'): AppError {
  return new AppError('page_failed', `"${action}" needs a browser, and none is available here.`, {
    fix: 'The operator installs Chromium (`writ doctor` says how). Until then navigate, snapshot, back, close and links work.',
  });
}
