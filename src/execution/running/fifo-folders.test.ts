import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fifoFolders } from './fifo-folders.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writ-fifos-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('the folder in memory is private, and the same for all processes of a user', () => {
  const [ours = '', ...others] = fifoFolders('/h', root);
  expect(others).toEqual(['/h/fifos']);
  expect(statSync(ours).mode & 0o777).toBe(0o700);
  expect(fifoFolders('/h', root)[0]).toBe(ours);
});

const PLANTED: Readonly<Record<string, (path: string) => void>> = {
  'open to others'(path) {
    mkdirSync(path);
    chmodSync(path, 0o755);
  },
  'a file': (path) => writeFileSync(path, ''),
  'a link to a private folder'(path) {
    mkdirSync(`${path}-2`, { mode: 0o700 });
    symlinkSync(`${path}-2`, path);
  },
  ...(process.getuid?.() === 0 && {
    'of another user'(path: string) {
      mkdirSync(path, { mode: 0o700 });
      chownSync(path, 65534, 65534);
    },
  }),
};

test.each(Object.keys(PLANTED))('one that is %s is not taken', (what) => {
  const [ours = ''] = fifoFolders('/h', root);
  rmSync(ours, { recursive: true });
  PLANTED[what]?.(ours);
  expect(fifoFolders('/h', root)).toEqual(['/h/fifos']);
});

test('without such memory they are in the Writ home', () => {
  expect(fifoFolders('/h', join(root, 'absent'))).toEqual(['/h/fifos']);
  expect(readdirSync(root)).toEqual([]);
});
