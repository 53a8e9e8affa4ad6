import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProbeResult } from '../types.ts';
import type { FilesView, SearchEnd } from './types.ts';
import { createFilesView } from './view.ts';

let base: string;
let workspace: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-search-')));
  chmodSync(base, 0o711);
  workspace = join(base, 'work');
  for (const name of ['work', 'home', 'writ-home']) mkdirSync(join(base, name));
  writeFileSync(join(base, 'home/secret'), 'needle outside\n');
  writeFileSync(join(workspace, 'a.txt'), 'needle inside\n');
  symlinkSync(join(base, 'home/secret'), join(workspace, 'link'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function view(contained: boolean): FilesView {
  const probe = async (): Promise<ProbeResult> =>
    contained ? ({ ok: true } as ProbeResult) : { ok: false, cause: 'not in this test', fix: '', detail: '', probed_at: 0 };
  return createFilesView(
    { home: join(base, 'writ-home'), host_env: {}, user_home: join(base, 'home'), bwrap_candidates: ['/usr/bin/bwrap'] },
    { probe },
  );
}

async function search(
  contained: boolean,
  args: readonly string[],
  more: { timeout_ms?: number; onOutput?: (chunk: Buffer) => boolean; signal?: AbortSignal } = {},
): Promise<SearchEnd & { readonly out: string }> {
  const files = view(contained);
  let out = '';
  const end = await files.search(
    {
      scene: files.scene([{ path: workspace, access: 'write' }], []),
      root: workspace,
      folder: workspace,
      args: ['--no-config', ...args],
      timeout_ms: more.timeout_ms ?? 20_000,
      onOutput: (chunk) => {
        out += chunk.toString();
        return more.onOutput?.(chunk) ?? true;
      },
    },
    more.signal ?? AbortSignal.timeout(30_000),
  );
  return { ...end, out };
}

test('its sandbox holds the searched place and nothing else: a link that is followed leads nowhere', async () => {
  // Named as an operand a link is followed; so would be one that was a folder a moment ago.
  const args = ['--no-filename', 'needle', '--', './a.txt', './link'];
  expect((await search(true, args)).out).toBe('needle inside\n');
  // Without containment there is no run that could put a link there; this shows that the sandbox made the difference.
  expect((await search(false, args)).out.split('\n').sort().join()).toBe(',needle inside,needle outside');
});

test('it ends when enough was found, when the time is over and when it is cancelled', async () => {
  writeFileSync(join(workspace, 'big.txt'), 'needle\n'.repeat(500_000));
  expect(await search(true, ['needle', '--', './big.txt'], { onOutput: () => false })).toMatchObject({ ended: 'enough', exit_code: null });
  // Nobody writes into it.
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  expect(await search(true, ['needle', '--', './pipe'], { timeout_ms: 100 })).toMatchObject({ ended: 'timeout' });
  await expect(search(true, ['needle'], { signal: AbortSignal.abort() })).rejects.toThrow();
});

test('its errors and exit codes are its own', async () => {
  expect(await search(true, ['('])).toMatchObject({ exit_code: 2, stderr: expect.stringContaining('regex parse error') });
  expect(await search(true, ['nothing of the kind', './'])).toMatchObject({ exit_code: 1, out: '' });
});

test('more at once than run wait for their turn', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => search(false, ['inside', './'])));
  expect(all.every(({ exit_code }) => exit_code === 0)).toBe(true);
});
