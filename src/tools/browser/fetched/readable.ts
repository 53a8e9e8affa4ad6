import { parentPort, workerData } from 'node:worker_threads';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import type { ReadRequest } from './read-page.ts';

const MAX_LINKS = 2_000;
const REF = /^(f\d+)?e\d+$/;
const TITLE_CHARS = 300;

/** The body of the thread: one page in, one answer out. No script of the page runs: it is only parsed. */
export function runPageReader(): void {
  const { html, base, prefix } = workerData as ReadRequest;
  parentPort?.postMessage(convert(html, new URL(base), prefix));
}

interface Converted {
  readonly title: string;
  readonly lines: readonly string[];
  readonly links: readonly (readonly [ref: string, url: string])[];
}

function convert(html: string, base: URL, prefix: string): Converted {
  const { document } = parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  const links = new Map<string, string>();
  for (const anchor of document.querySelectorAll('a[href]')) {
    if (links.size >= MAX_LINKS) break;
    const target = URL.parse(anchor.getAttribute('href') ?? '', base.href);
    if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) continue;
    const ref = `${prefix}e${links.size + 1}`;
    links.set(ref, target.href);
    anchor.setAttribute('href', ref);
  }
  const title = (document.querySelector('title')?.textContent ?? '').trim().slice(0, TITLE_CHARS);
  for (const hidden of document.querySelectorAll('script, style, noscript, template')) hidden.remove();
  const whole = document.body?.innerHTML ?? html;
  // Takes the document apart, so that the whole of it is kept before. What it leaves out (menus, forms) may hold the link that is wanted.
  const article = new Readability(document as never).parse()?.content;
  const main = toMarkdown(article ?? whole);
  const rest = article == null ? [] : leftOut(whole, main);
  return { title, lines: [...plainLines(main), ...(rest.length > 0 ? ['', 'Other links of the page:', ...rest] : [])], links: [...links] };
}

function leftOut(whole: string, main: string): readonly string[] {
  const { document } = parseHTML(`<html><body>${whole}</body></html>`);
  return [...document.querySelectorAll('a[href]')].flatMap((anchor) => {
    const ref = anchor.getAttribute('href') ?? '';
    const text = (anchor.textContent ?? '').replace(/\s+/g, ' ').trim();
    return REF.test(ref) && text !== '' && !main.includes(`[ref=${ref}]`) ? [`- ${text.slice(0, 200)} [ref=${ref}]`] : [];
  });
}

function toMarkdown(html: string): string {
  const turndown = new TurndownService({ headingStyle: 'atx', bulletListMarker: '-', codeBlockStyle: 'fenced' });
  turndown.addRule('reference', {
    filter: (node) => node.nodeName === 'A' && REF.test(node.getAttribute('href') ?? ''),
    replacement: (content, node) => `${content.trim()} [ref=${'getAttribute' in node ? String(node.getAttribute('href')) : ''}]`,
  });
  turndown.addRule('picture', {
    filter: 'img',
    replacement: (_content, node) => {
      const alt = 'getAttribute' in node ? String(node.getAttribute('alt') ?? '') : '';
      return alt === '' ? '' : `(picture: ${alt})`;
    },
  });
  return turndown.turndown(html);
}

function plainLines(text: string): readonly string[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .split('\n')
    .map((line) => line.trimEnd());
}
