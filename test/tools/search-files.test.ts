import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type FilesPlace, makeFilesPlace, reasonOf } from './files-place.ts';

interface Case {
  readonly id: string;
  readonly tree: Readonly<Record<string, string>>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expect: { readonly matches?: readonly [string, number][]; readonly count?: number; readonly error?: string };
  readonly retired?: string;
}

const cases = readFileSync(new URL('../corpora/search.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter((one) => one.retired === undefined);

let place: FilesPlace;
afterEach(() => place.remove());

interface Answer {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly context: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly total: number;
  readonly total_exact: boolean;
  readonly next_offset: number | null;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

async function search(args: unknown, options?: Parameters<FilesPlace['call']>[2]): Promise<Answer> {
  return (await place.call('search_files', args, options)).structured as unknown as Answer;
}

describe('cases', () => {
  test.each(cases)('$id', async (one) => {
    place = makeFilesPlace();
    place.fill(one.tree);
    if (one.expect.error !== undefined) {
      // What lies outside is asked for first; a yes would open it.
      const reason = await reasonOf(place.call('search_files', one.args));
      expect(reason === 'asked' ? 'outside' : reason).toBe(one.expect.error);
      return;
    }
    const { matches } = await search(one.args);
    const found = matches.map(({ path, line }) => [path, line]);
    if (one.expect.count !== undefined) expect(matches.length).toBe(one.expect.count);
    else if (one.args['target'] === 'files') expect(new Set(found.map(String))).toEqual(new Set(one.expect.matches?.map(String)));
    else expect(found).toEqual(one.expect.matches);
  });
});

describe('content', () => {
  test('pages with an offset, counts all, and cuts long lines', async () => {
    place = makeFilesPlace();
    place.fill({ 'a.txt': 'foo\n'.repeat(130), 'b.txt': `${'x'.repeat(3000)}foo${'y'.repeat(3000)}\n` });
    const first = await search({ pattern: 'foo', limit: 100 });
    expect(first).toMatchObject({ total: 131, total_exact: true, next_offset: 100 });
    const rest = await search({ pattern: 'foo', limit: 100, offset: 100 });
    expect(rest).toMatchObject({ total: 131, next_offset: null });
    expect([...first.matches, ...rest.matches].map(({ line }) => line).slice(0, 130)).toEqual(Array.from({ length: 130 }, (_, i) => i + 1));
    expect(rest.matches.at(-1)?.text).toMatch(/^\[\.\.\. 2900 characters\] x{100}fooy{297} \[\.\.\. 2703 characters more\]$/);
  });

  test('more than can be counted is said to be more', async () => {
    place = makeFilesPlace();
    place.fill({ 'a.txt': 'foo\n'.repeat(20_000), 'b.txt': 'foo\n' });
    expect(await search({ pattern: 'foo', limit: 10 })).toMatchObject({ total_exact: false, next_offset: 10 });
  });

  test('.gitignore counts with and without git, also where a glob names the file', async () => {
    place = makeFilesPlace();
    place.fill({
      '.gitignore': 'gen/\nmade.ts\n',
      'gen/a.ts': 'foo\n',
      'src/made.ts': 'foo\n',
      'src/real.ts': 'foo\n',
      'dist/x.ts': 'foo\n',
    });
    for (const file_glob of [undefined, '*.ts', 'src/**/*.ts', '**/*.ts']) {
      const { matches } = await search({ pattern: 'foo', ...(file_glob === undefined ? {} : { file_glob }) });
      expect(matches.map(({ path }) => path)).toEqual(['src/real.ts']);
    }
    const all = await search({ pattern: 'foo', include_ignored: true });
    expect(all.matches.map(({ path }) => path)).toEqual(['dist/x.ts', 'gen/a.ts', 'src/made.ts', 'src/real.ts']);
    expect((await search({ pattern: 'foo', path: 'gen' })).matches.map(({ path }) => path)).toEqual(['gen/a.ts']);
    const files = await search({ pattern: 'src/*', target: 'files' });
    expect(files.matches.map(({ path }) => path)).toEqual(['src/real.ts']);
  });

  test('a broken .gitignore, an unreadable file and a link are no reason to find nothing', async () => {
    place = makeFilesPlace();
    place.fill({ '.gitignore': '[\n{a\n', 'a.txt': 'foo\n', 'b.txt': 'foo\n' });
    writeFileSync(join(place.home, 'out.txt'), 'foo\n');
    symlinkSync(join(place.home, 'out.txt'), join(place.workspace, 'link.txt'));
    chmodSync(join(place.workspace, 'b.txt'), 0);
    execFileSync('mkfifo', [join(place.workspace, 'pipe')]);
    expect(await reasonOf(search({ pattern: 'foo', path: 'pipe' }))).toBe('not_a_file');
    const { matches } = await search({ pattern: 'foo' });
    expect(matches.map(({ path }) => path).filter((path) => path !== 'b.txt')).toEqual(['a.txt']);
  });

  test('context lines, plain text and case', async () => {
    place = makeFilesPlace();
    place.fill({ 'a.txt': 'one\ntwo (x\nthree\nfour\n' });
    const found = await search({ pattern: 'TWO (', literal: true, ignore_case: true, context: 1 });
    expect(found.matches).toEqual([{ path: 'a.txt', line: 2, text: 'two (x' }]);
    expect(found.context.map(({ line, text }) => [line, text])).toEqual([
      [1, 'one'],
      [3, 'three'],
    ]);
  });

  test('secret files are named and not shown, until a yes opens one', async () => {
    place = makeFilesPlace();
    place.fill({ '.env': 'KEY=foo\n', id_rsa: 'foo\n', 'x.bin': 'foo\0\n', 'a.txt': 'foo\n' });
    const found = await search({ pattern: 'foo' });
    expect(found.matches.map(({ path }) => path)).toEqual(['a.txt']);
    expect(found.skipped.filter(({ why }) => why !== 'binary')).toEqual([
      { path: '.env', why: 'holds secrets' },
      { path: 'id_rsa', why: 'holds secrets' },
    ]);
    expect(await reasonOf(search({ pattern: 'foo', path: '.env' }))).toBe('asked');
    expect((await search({ pattern: 'KEY', path: '.env' }, { yes: true })).matches.map(({ path }) => path)).toEqual(['.env']);
  });

  test('a pattern that would take for ever elsewhere does not here', async () => {
    place = makeFilesPlace();
    place.fill({ 'a.txt': `${'a'.repeat(50_000)}b\n` });
    expect(await search({ pattern: '(a+)+c' })).toMatchObject({ total: 0 });
    expect(await reasonOf(search({ pattern: 'a{1000}{1000}{1000}' }))).toBe('bad_pattern');
    expect(await reasonOf(search({ pattern: '(?=a)' }))).toBe('bad_pattern');
    expect(await reasonOf(search({ pattern: '[', target: 'files' }))).toBe('bad_pattern');
  });

  test('cancelled, it ends', async () => {
    place = makeFilesPlace();
    place.fill({ 'a.txt': 'foo\n' });
    await expect(place.call('search_files', { pattern: 'foo' }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});

describe.each([{ uid: undefined }, ...(process.getuid?.() === 0 ? [{ uid: 1000 }] : [])])('in its sandbox, uid $uid', ({ uid }) => {
  test('finds the same, in the Workspace, the private /tmp and one opened file', async () => {
    place = makeFilesPlace({ contained: true, ...(uid === undefined ? {} : { uid }) });
    place.fill({ 'src/a.ts': 'foo\n', 'b.md': 'foo\n' });
    expect((await search({ pattern: 'foo' })).matches.map(({ path }) => path)).toEqual(['b.md', 'src/a.ts']);
    expect((await search({ pattern: '*', target: 'files' })).total).toBe(2);
    expect((await search({ pattern: 'foo', path: 'b.md' })).total).toBe(1);
    await place.call('write_file', { path: '/tmp/d/note.txt', content: 'foo\n' });
    expect((await search({ pattern: 'foo', path: '/tmp/d' })).matches).toEqual([{ path: '/tmp/d/note.txt', line: 1, text: 'foo' }]);
    writeFileSync(join(place.home, 'diary.txt'), 'foo\n', { mode: 0o644 });
    expect((await search({ pattern: 'foo', path: '~/diary.txt' }, { yes: true })).total).toBe(1);
  });
});
