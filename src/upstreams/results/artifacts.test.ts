import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ArtifactLimits } from './artifact-retention.ts';
import { ARTIFACT_LIMITS, planArtifactRemovals } from './artifact-retention.ts';
import type { Artifact, ArtifactStore } from './artifacts.ts';
import { ANN, BOB, bound, freshFolder, freshStore, readAll, textOf } from './testing.ts';

const origin = { server: 'srv', tool: 'make' };
const { signal } = new AbortController();
const keep = (store: ArtifactStore, content: string | Uint8Array, media_type = 'text/plain', owner = ANN): Promise<Artifact> =>
  store.keep(owner, origin, { media_type, bytes: Buffer.from(content) });

describe('an artifact that is kept', () => {
  test('belongs to its agent in its organization; for others it is not there', async () => {
    const store = freshStore();
    const { id } = await keep(store, 'mine');
    const request = { cursor: 0, max_bytes: 100 };
    expect(await store.read({ ...ANN, run: 'later' }, id, request, signal)).toMatchObject({ page: { content: { text: 'mine' } } });
    expect(await store.read(BOB, id, request, signal)).toBeUndefined();
    expect(await store.read({ ...ANN, organization: 'other' }, id, request, signal)).toBeUndefined();
    expect(await store.list(BOB)).toEqual([]);
    expect((await store.list(ANN)).map((one) => one.id)).toEqual([id]);
  });

  test('is a file that only this user can read', async () => {
    const store = freshStore();
    const { id } = await keep(store, 'mine');
    const folder = join(store.home, 'artifacts', id);
    expect(statSync(join(store.home, 'artifacts')).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  test.each(['../../etc', 'art_', 'exec_00000000000000000000000', '', 'art_0000000000000000000000', '__proto__'])(
    '%j names none',
    async (id) => {
      expect(await freshStore().read(ANN, id, { cursor: 0, max_bytes: 10 }, signal)).toBeUndefined();
    },
  );

  test('comes in pages that never cut a character, whatever the cursor', async () => {
    const store = freshStore();
    const text = 'aé漢😀'.repeat(20);
    const { id, bytes } = await keep(store, text);
    for (const size of [1, 4, 5, 7, 64]) expect(await readAll(store, id, 0, size), String(size)).toBe(text);
    for (let cursor = 0; cursor <= bytes + 2; cursor++) {
      const read = await store.read(ANN, id, { cursor, max_bytes: 9 }, signal);
      const content = read?.page.content;
      expect(content?.type === 'text' && content.text.includes('\ufffd'), String(cursor)).toBe(false);
    }
  });

  test('of no text is base64, and bytes that are no characters stop nobody', async () => {
    const store = freshStore();
    const bytes = Buffer.from([0x61, 0xff, 0xfe, 0x80, 0x80, 0x80, 0x80, 0xc3]);
    const binary = await keep(store, bytes, 'image/png');
    expect((await store.read(ANN, binary.id, { cursor: 2, max_bytes: 4 }, signal))?.page).toEqual({
      media_type: 'image/png',
      total_bytes: 8,
      cursor: 2,
      next_cursor: 6,
      content: { type: 'base64', data: bytes.subarray(2, 6).toString('base64') },
    });
    const odd = await keep(store, bytes);
    expect(await readAll(store, odd.id, 0, 4)).toContain('a');
  });

  test('whose record was tampered with is not there', async () => {
    const store = freshStore();
    const { id } = await keep(store, 'mine');
    const record = join(store.home, 'artifacts', id, 'record.json');
    for (const text of ['{', '{"version":2}', 'x'.repeat(100_000), '{"version":1,"owner":{"organization":"org","agent":"ann"}}']) {
      writeFileSync(record, text);
      expect(await store.read(ANN, id, { cursor: 0, max_bytes: 10 }, signal)).toBeUndefined();
    }
    unlinkSync(record);
    symlinkSync('/etc/hostname', record);
    expect(await store.list(ANN)).toEqual([]);
  });

  test('is gone after its time', async () => {
    let now = Date.now();
    const store = freshStore({ now: () => now });
    const { id } = await keep(store, 'old');
    await store.sweep();
    now += ARTIFACT_LIMITS.retention_ms;
    expect(await store.read(ANN, id, { cursor: 0, max_bytes: 10 }, signal)).toBeUndefined();
    const draft = join(store.home, 'artifacts', '.new-left');
    mkdirSync(draft);
    utimesSync(draft, now / 1000, now / 1000);
    expect(await store.sweep()).toEqual([id]);
    utimesSync(draft, 0, 0);
    expect(await store.sweep()).toEqual(['.new-left']);
    expect(readdirSync(join(store.home, 'artifacts'))).toEqual([]);
  });
});

describe('what is too much', () => {
  const limits: ArtifactLimits = { retention_ms: 1_000, agent_bytes: 100, agent_count: 3, total_bytes: 150, total_count: 4 };
  const one = (id: string, agent: string, bytes: number, created_at: number) => ({ id, agent, bytes, created_at });

  test('goes, the oldest of the same agent first', () => {
    expect(planArtifactRemovals([one('a', 'x', 60, 1), one('b', 'x', 60, 2), one('c', 'y', 10, 0)], limits, 10)).toEqual(['a']);
    expect(
      planArtifactRemovals(
        ['1', '2', '3', '4'].map((id) => one(id, 'x', 0, Number(id))),
        limits,
        10,
      ),
    ).toEqual(['1']);
    expect(planArtifactRemovals([one('a', 'x', 90, 3), one('b', 'y', 90, 2)], limits, 10)).toEqual(['b']);
    expect(planArtifactRemovals([one('a', 'x', 1, 0)], limits, 1_000)).toEqual(['a']);
  });

  test('is looked after without being asked', async () => {
    const store = freshStore({ limits: { ...limits, retention_ms: 60_000 } });
    for (let count = 0; count < 8; count++) await keep(store, 'x'.repeat(40));
    await store.sweep();
    expect(await store.list(ANN)).toHaveLength(2);
  });
});

/** A real full disk: a small tmpfs that bubblewrap mounts, which needs no rights. */
test('a full disk loses the rest of a result and says so, and leaves no half behind', () => {
  const mount = freshFolder();
  const script = `
    import { readdirSync, writeFileSync } from 'node:fs';
    import { ANN, bound, freshStore, textOf } from ${JSON.stringify(join(import.meta.dirname, 'testing.ts'))};
    const store = freshStore({ home: ${JSON.stringify(join(mount, 'home'))} });
    const answer = await bound({ content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] }, { store, max_result_chars: 5_000 });
    const left = readdirSync(store.home + '/artifacts');
    await store.keep(ANN, { server: 'srv', tool: 'make' }, { media_type: 'text/plain', bytes: Buffer.from('small') });
    process.stdout.write(JSON.stringify({ left, is_error: answer.is_error, artifacts: answer.artifacts, text: textOf(answer) }));`;
  const child = [
    '--dev-bind',
    '/',
    '/',
    '--size',
    String(1024 * 1024),
    '--tmpfs',
    mount,
    process.execPath,
    '--input-type=module',
    '-e',
    script,
  ];
  const seen = JSON.parse(execFileSync('bwrap', child, { encoding: 'utf8', cwd: import.meta.dirname }));
  expect(seen).toMatchObject({ left: [], is_error: false, artifacts: [] });
  expect(seen.text).toMatch(/it could not be kept: No space is left/);
  expect(seen.text).toContain('xxxx');
});

describe('a file that a result refers to', () => {
  async function referred(name = 'a.txt', more: object = {}): Promise<{ store: ArtifactStore; root: string; path: string; id: string }> {
    const root = freshFolder();
    mkdirSync(join(root, 'art'));
    const path = join(root, 'art', name);
    writeFileSync(path, 'hello\n');
    const store = freshStore();
    const artifacts = [{ schema: 'odek.artifact-ref/v1', id: 'a', uri: `file://${path}`, media_type: 'text/plain', ...more }];
    const envelope = JSON.stringify({ schema: 'odek.tool-result/v1', text: 'see', artifacts });
    const answer = await bound({ content: [{ type: 'text', text: envelope }] }, { store, artifact_roots: [join(root, 'art')] });
    return { store, root, path, id: answer.artifacts[0]?.id ?? textOf(answer) };
  }
  const read = (store: ArtifactStore, id: string) => store.read(ANN, id, { cursor: 0, max_bytes: 100 }, signal);

  test('is read by whoever the result was for, and by nobody else', async () => {
    const { store, id } = await referred();
    expect(await read(store, id)).toMatchObject({ page: { total_bytes: 6, content: { type: 'text', text: 'hello\n' } } });
    expect(await store.read(BOB, id, { cursor: 0, max_bytes: 100 }, signal)).toBeUndefined();
    expect(readdirSync(join(store.home, 'artifacts', id))).toEqual(['record.json']);
  });

  test.each<readonly [string, (path: string, root: string) => void]>([
    ['another content of the same size', (path) => writeFileSync(path, 'HELLO\n')],
    ['more content', (path) => writeFileSync(path, 'hello\nhello\n')],
    ['a link to a secret', (path, root) => swap(path, () => symlinkSync(join(root, 'secret'), path))],
    ['a link to a secret of the same content', (path, root) => swap(path, () => symlinkSync(join(root, 'same'), path))],
    ['another file', (path) => swap(path, () => writeFileSync(path, 'hello\n'))],
    ['a folder', (path) => swap(path, () => mkdirSync(path))],
    ['nothing', (path) => swap(path, () => {})],
    ['a pipe', (path) => swap(path, () => void execFileSync('mkfifo', [path]))],
    [
      'a folder of the same names elsewhere',
      (_, root) => {
        renameSync(join(root, 'art'), join(root, 'away'));
        symlinkSync(join(root, 'other'), join(root, 'art'));
      },
    ],
  ])('that is %s by now is refused', async (_, change) => {
    const { store, root, path, id } = await referred();
    writeFileSync(join(root, 'secret'), 'secret');
    writeFileSync(join(root, 'same'), 'hello\n');
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'a.txt'), 'hello\n');
    change(path, root);
    await expect(read(store, id)).rejects.toMatchObject({ code: 'file_refused', data: { origins: ['mcp:srv'] } });
  });

  test('is not handed out of the Writ home, by way of a root that holds it neither', async () => {
    const home = join(freshFolder(), '.writ');
    const store = freshStore({ home });
    writeFileSync(join(home, 'key'), 'k');
    for (const root of [home, join(home, '..'), '/']) {
      const artifacts = [{ schema: 'odek.artifact-ref/v1', id: 'a', uri: `file://${home}/key`, media_type: 'text/plain' }];
      const envelope = JSON.stringify({ schema: 'odek.tool-result/v1', text: 'see', artifacts });
      const answer = await bound({ content: [{ type: 'text', text: envelope }] }, { store, artifact_roots: [root] });
      expect(textOf(answer), root).toContain('outside of every artifact root');
    }
  });

  test('swapped for a link while it is looked at, again and again, never shows what the link leads to', async () => {
    const { store, root, path, id } = await referred('b.txt', {
      sha256: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
    });
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync(join(root, 'secret'), join(root, 'link'));
    const away = join(root, 'away');
    let seen = 0;
    for (let turn = 0; turn < 100; turn++) {
      const answer = read(store, id).catch((thrown: unknown) => thrown);
      renameSync(path, away);
      renameSync(join(root, 'link'), path);
      await new Promise(setImmediate);
      renameSync(path, join(root, 'link'));
      renameSync(away, path);
      if (JSON.stringify(await answer)?.includes('secret')) seen++;
    }
    expect(seen).toBe(0);
  });
});

function swap(path: string, make: () => void): void {
  rmSync(path);
  make();
}
