import { expect, it } from 'vitest';
import { readPage } from './read-page.ts';

const program = new URL('../../../main/page-reader.ts', import.meta.url);
const read = (html: string, max_ms?: number): ReturnType<typeof readPage> =>
  readPage(program, { html, base: 'http://a.example/dir/', prefix: 'f3' }, new AbortController().signal, max_ms);

it('is Markdown with references, in the order of the page, and knows where they lead', async () => {
  const page = await read(
    '<html><head><title> A </title></head><body><h1>Head</h1><p>See <a href="b">this</a>, <a href="javascript:x">not this</a></p></body></html>',
  );
  expect(page.title).toBe('A');
  expect(page.lines.join('\n')).toContain('See this [ref=f3e1]');
  expect([...page.links]).toEqual([['f3e1', 'http://a.example/dir/b']]);
});

it('a page that the parser does not come back from is its text, and keeps nobody waiting', async () => {
  const page = await read(`<p>before</p>${'<div>'.repeat(300_000)}after`, 1_000);
  expect(page.lines[0]).toContain('could not be read');
  expect(page.lines.join(' ')).toMatch(/before .*after/);
  expect(page.links.size).toBe(0);
});
