import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { silentLogger } from '../kernel/logger.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import type { Decision } from '../policy/types.ts';
import { type Artifact, type ArtifactStore, createArtifacts, untrustedLine } from '../upstreams/index.ts';
import { createReadArtifact } from './read-artifact.ts';
import type { CallContext, ToolOutput } from './tool.ts';

const owner = { organization: 'org', agent: 'ann', run: 'run_1', workspace: '/w' };
const SECRET = `ghp_${'a'.repeat(36)}`;

function freshStore(): ArtifactStore {
  const home = mkdtempSync(join(tmpdir(), 'writ-read-artifact-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return createArtifacts({ home, clock: systemClock, logger: silentLogger });
}
const keep = (store: ArtifactStore, bytes: string | Uint8Array, media_type = 'text/plain'): Promise<Artifact> =>
  store.keep(owner, { server: 'srv', tool: 'make' }, { media_type, bytes: Buffer.from(bytes) });

function call(store: ArtifactStore, raw: object, agent = 'ann'): Promise<ToolOutput> {
  const tool = createReadArtifact({ store, redactor: createRedactor(), labelOf: untrustedLine });
  const parsed = tool.parse(raw);
  if (!parsed.ok) throw new Error(parsed.problem);
  const context = { owner: { ...owner, agent }, signal: new AbortController().signal } as CallContext;
  return tool.run(parsed.input, context, {} as Decision);
}

test('pages follow each other, are labelled, and taint', async () => {
  const store = freshStore();
  const text = Array.from({ length: 4_000 }, (_, at) => `line ${at} é`).join('\n');
  const { id } = await keep(store, text);
  let all = '';
  let cursor: unknown = 0;
  for (let pages = 0; cursor !== null && pages < 10; pages++) {
    const { structured, text: shown, origins } = await call(store, { id, cursor });
    expect(shown.split('\n').at(-1)).toContain('came from the MCP server "srv"');
    expect(shown.split('\n').length).toBeLessThan(1_810);
    expect(origins).toEqual(['mcp:srv']);
    all += structured['content'];
    cursor = structured['next_cursor'];
  }
  expect(all).toBe(text);
});

test('a secret across the edge of two pages is in neither', async () => {
  const store = freshStore();
  const { id } = await keep(store, `${'x '.repeat(50)}token ${SECRET} and on ${'y '.repeat(50)}`);
  for (let cut = 95; cut < 160; cut += 7) {
    const first = await call(store, { id, max_bytes: cut });
    const second = await call(store, { id, cursor: cut });
    const shown = `${first.structured['content']}${second.structured['content']}`;
    expect(shown, String(cut)).not.toMatch(/a{3}/);
    expect(shown).toContain('[redacted:');
  }
});

test('a picture is shown, other bytes are base64', async () => {
  const store = freshStore();
  const bytes = Buffer.alloc(40_000, 9);
  const picture = await call(store, { id: (await keep(store, bytes, 'image/png')).id });
  expect(picture.structured).toMatchObject({ encoding: 'image', content: '', next_cursor: null });
  expect(picture.images).toEqual([{ mime_type: 'image/png', data: bytes.toString('base64') }]);
  const { id } = await keep(store, bytes, 'application/zip');
  const [one, two, three] = [
    await call(store, { id }),
    await call(store, { id, cursor: 18_000 }),
    await call(store, { id, cursor: 36_000 }),
  ];
  expect(one.structured).toMatchObject({ encoding: 'base64', next_cursor: 18_000 });
  const joined = [one, two, three].map(({ structured }) => structured['content']).join('');
  expect(Buffer.from(joined, 'base64').equals(bytes)).toBe(true);
  expect(three.structured['next_cursor']).toBeNull();
});

test("another agent's, and one that never was, are not there", async () => {
  const store = freshStore();
  const { id } = await keep(store, 'mine');
  await expect(call(store, { id }, 'bob')).rejects.toMatchObject({ code: 'not_found' });
  await expect(call(store, { id: '../x' })).rejects.toMatchObject({ code: 'not_found' });
});
