import { readFileSync } from 'node:fs';
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
