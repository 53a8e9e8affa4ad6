import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bound, freshFolder, freshStore, textOf } from './testing.ts';

interface Case {
  readonly id: string;
  readonly setup: readonly {
    readonly type: string;
    readonly path: string;
    readonly content?: string;
    readonly size_bytes?: number;
    readonly target?: string;
  }[];
  readonly roots: readonly string[];
  readonly envelope: Readonly<Record<string, unknown>>;
  readonly expect: 'accept' | 'reject';
  readonly retired?: string;
}

const file = resolve(import.meta.dirname, '../../../test/corpora/artifact-refs.jsonl');
const cases = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Case => JSON.parse(line))
  .filter((one) => one.retired === undefined);

function prepare({ setup, roots, envelope }: Case): {
  readonly root: string;
  readonly roots: readonly string[];
  readonly envelope: string;
} {
  const root = freshFolder();
  for (const { type, path, content = '', size_bytes, target = '' } of setup) {
    const at = join(root, path);
    mkdirSync(dirname(at), { recursive: true });
    if (type === 'dir') mkdirSync(at, { recursive: true });
    else if (type === 'symlink') symlinkSync(target, at);
    else writeFileSync(at, content);
    if (size_bytes !== undefined) truncateSync(at, size_bytes);
  }
  const filled = (text: string): string => text.replaceAll(`\${ROOT}`, root);
  return { root, roots: roots.map(filled), envelope: filled(JSON.stringify(envelope)) };
}

test('there are all the cases', () => expect(cases).toHaveLength(55));

describe.each(cases)('$id', (one) => {
  test(`is ${one.expect}ed`, async () => {
    const { root, roots, envelope } = prepare(one);
    const store = freshStore();
    const answer = await bound({ content: [{ type: 'text', text: envelope }] }, { store, artifact_roots: roots });
    const text = textOf(answer);
    expect(answer.is_error, text).toBe(one.expect === 'reject');
    expect(answer.origins).toEqual(['mcp:srv']);
    if (one.expect === 'reject') {
      expect(text).toMatch(/tool "make" of the MCP server "srv" is refused: /);
      expect(answer.content).toHaveLength(1);
      expect(await store.list({ organization: 'org', agent: 'ann', run: 'r' })).toEqual([]);
      return;
    }
    if (one.envelope['schema'] !== 'odek.tool-result/v1') {
      expect(answer.content[0]).toEqual({ type: 'text', text: envelope });
      return;
    }
    const { text: said, artifacts = [] } = one.envelope as { text: string; artifacts?: readonly unknown[] };
    expect(text).toContain(said);
    // One line for each, and nothing of where it lies.
    expect(text).not.toContain(root);
    expect(text.split('\n').filter((line) => line.startsWith('[artifact '))).toHaveLength(artifacts.length);
    expect(answer.artifacts).toHaveLength(artifacts.length);
  });
});
