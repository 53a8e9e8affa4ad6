import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openReference } from './reference.ts';
import { freshFolder } from './testing.ts';

const { signal } = new AbortController();

/** The folder of the file is another one at each look, and then the same again: whatever is opened must lie below the root. */
test('a folder swapped on the way never leads out, at whatever moment', async () => {
  const base = freshFolder();
  for (const folder of ['art/sub', 'out']) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'art/sub/a.txt'), 'inside');
  writeFileSync(join(base, 'out/a.txt'), 'secret');
  const [sub, spare, link] = [join(base, 'art/sub'), join(base, 'art/spare'), join(base, 'art/link')];
  symlinkSync(join(base, 'out'), link);
  const reference = { id: 'a', uri: `file://${sub}/a.txt`, media_type: 'text/plain' };
  const seen = { inside: 0, refused: 0, secret: 0 };
  let swapping = true;
  const swaps = (async () => {
    while (swapping) {
      renameSync(sub, spare);
      renameSync(link, sub);
      await new Promise(setImmediate);
      renameSync(sub, link);
      renameSync(spare, sub);
      await new Promise(setImmediate);
    }
  })();
  for (let turn = 0; turn < 400; turn++) {
    const opened = await openReference(reference, { roots: [join(base, 'art')], writ_home: '/nowhere' }, signal);
    if (!opened.ok) seen.refused++;
    else {
      if ((await readFile(opened.handle, 'utf8')) === 'secret') seen.secret++;
      else seen.inside++;
      await opened.handle.close();
    }
  }
  swapping = false;
  await swaps;
  expect(seen.secret).toBe(0);
  expect(seen.refused).toBeGreaterThan(0);
});

test('it ends with whoever asked', async () => {
  const base = freshFolder();
  writeFileSync(join(base, 'a.txt'), 'x');
  const reference = { id: 'a', uri: `file://${base}/a.txt`, media_type: 'text/plain', sha256: 'a'.repeat(64) };
  const reason = new Error('gone');
  await expect(openReference(reference, { roots: [base], writ_home: '/nowhere' }, AbortSignal.abort(reason))).rejects.toBe(reason);
});
