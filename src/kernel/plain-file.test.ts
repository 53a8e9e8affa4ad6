import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readPlainFile } from './plain-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-plain-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

test('a plain file is read whole, and nothing else in its place', () => {
  writeFileSync(at('plain'), 'four');
  symlinkSync(at('plain'), at('link'));
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  expect(readPlainFile(at('plain'), 4)).toMatchObject({ state: 'read', bytes: Buffer.from('four'), stat: { size: 4 } });
  expect(readPlainFile(at('plain'), 3)).toEqual({ state: 'refused', why: 'it is no plain file of that size' });
  expect(readPlainFile(at('link'), 4)).toEqual({ state: 'refused', why: "it can't be opened (ELOOP)" });
  for (const other of ['folder', 'pipe']) expect(readPlainFile(at(other), 4)).toMatchObject({ state: 'refused' });
  for (const none of ['none', 'plain/none']) expect(readPlainFile(at(none), 4)).toEqual({ state: 'absent' });
});
