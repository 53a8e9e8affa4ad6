import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';

/** A document as text, with the addresses behind its references. */
export interface Readable {
  readonly title: string;
  readonly lines: readonly string[];
  readonly links: ReadonlyMap<string, string>;
}

const MAX_LINKS = 2_000;
const TITLE_CHARS = 300;

/** No script of the page runs: it is only parsed. What is deeper than the parser can go comes as plain text without references. */
export function readableHtml(html: string, base: URL): Readable {
  try {
    return convert(html, base);
  } catch {
    return { title: '', lines: plainLines(withoutTags(html)), links: new Map() };
  }
}

export function readableText(text: string): Readable {
  return { title: '', lines: text.split('\n'), links: new Map() };
}

function convert(html: string, base: URL): Readable {
  const { document } = parseHTML(html);
  const links = new Map<string, string>();
  for (const anchor of document.querySelectorAll('a[href]')) {
    if (links.size >= MAX_LINKS) break;
    const target = URL.parse(anchor.getAttribute('href') ?? '', base.href);
    if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) continue;
    const ref = `e${links.size + 1}`;
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
  return { title, lines: [...plainLines(main), ...(rest.length > 0 ? ['', 'Other links of the page:', ...rest] : [])], links };
}

function leftOut(whole: string, main: string): readonly string[] {
  const { document } = parseHTML(`<html><body>${whole}</body></html>`);
  return [...document.querySelectorAll('a[href]')].flatMap((anchor) => {
    const ref = anchor.getAttribute('href') ?? '';
    const text = (anchor.textContent ?? '').replace(/\s+/g, ' ').trim();
    return /^e\d+$/.test(ref) && text !== '' && !main.includes(`[ref=${ref}]`) ? [`- ${text.slice(0, 200)} [ref=${ref}]`] : [];
  });
}

function toMarkdown(html: string): string {
  const turndown = new TurndownService({ headingStyle: 'atx', bulletListMarker: '-', codeBlockStyle: 'fenced' });
  turndown.addRule('reference', {
    filter: (node) => node.nodeName === 'A' && /^e\d+$/.test(node.getAttribute('href') ?? ''),
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

/** In one pass, whatever the document looks like. */
function withoutTags(html: string): string {
  return html
    .split('<')
    .map((piece) => piece.slice(piece.indexOf('>') + 1))
    .join(' ');
}

function plainLines(text: string): readonly string[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .split('\n')
    .map((line) => line.trimEnd());
}
