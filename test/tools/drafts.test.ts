import { chmodSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FilesPlace, makeFilesPlace } from './files-place.ts';

let place: FilesPlace;
beforeEach(() => {
  place = makeFilesPlace();
});
afterEach(() => place.remove());

const draft = (digit: string): string => `.writ-${digit.repeat(16)}.tmp`;

function leave(name: string, seconds_ago: number): void {
  const path = join(place.workspace, name);
  writeFileSync(path, 'half');
  const at = Date.now() / 1000 - seconds_ago;
  utimesSync(path, at, at);
}

test('what a killed process left beside a file goes with the next write there, and nothing else does', async () => {
  leave(draft('a'), 3600);
  leave(draft('b'), 1);
  leave('.writ-notes.tmp', 3600);
  await place.call('write_file', { path: 'x.txt', content: 'new' });
  expect(readdirSync(place.workspace).filter((name) => name.startsWith('.writ-'))).toEqual([draft('b'), '.writ-notes.tmp'].sort());
});

test('a folder that may not be looked into is written all the same', async () => {
  leave(draft('a'), 3600);
  chmodSync(place.workspace, 0o300);
  try {
    expect((await place.call('write_file', { path: 'x.txt', content: 'new' })).structured).toMatchObject({ created: true });
  } finally {
    chmodSync(place.workspace, 0o755);
  }
});
