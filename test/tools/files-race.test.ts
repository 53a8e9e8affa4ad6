import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FilesPlace, makeFilesPlace, reasonOf } from './files-place.ts';

/** Swaps a folder and a link of the same name as fast as it can; says so once it has begun. */
const SWAPPER = `
  const { existsSync, lstatSync, renameSync } = require('node:fs');
  const quietly = (step) => { try { step(); return true; } catch { return false; } };
  process.chdir(process.argv[1]);
  process.stdout.write('swapping\\n');
  for (let n = 0; ; n++) {
    if (quietly(() => {
      renameSync('dir', 'folder'); renameSync('link', 'dir');
      renameSync('dir', 'link'); renameSync('folder', 'dir');
    })) continue;
    // A tool made the folder while it was away.
    quietly(() => { if (existsSync('folder') && !lstatSync('dir').isSymbolicLink()) renameSync('dir', 'made' + n); });
    quietly(() => { if (existsSync('folder') && !existsSync('dir')) renameSync('folder', 'dir'); });
  }
`;
const TRIES = 80;

let place: FilesPlace;
let swapper: ChildProcess;

beforeEach(async () => {
  place = makeFilesPlace({ contained: true });
  place.fill({ 'dir/f.txt': 'inside\n' });
  mkdirSync(join(place.home, 'outside'));
  writeFileSync(join(place.home, 'outside/f.txt'), 'outside\n');
  symlinkSync(join(place.home, 'outside'), join(place.workspace, 'link'));
  swapper = spawn(process.execPath, ['-e', SWAPPER, place.workspace], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => swapper.stdout?.once('data', resolve));
});

afterEach(async () => {
  const ended = swapper.exitCode === null && new Promise((resolve) => swapper.once('exit', resolve));
  swapper.kill('SIGKILL');
  await ended;
  place.remove();
});

test('a folder that is swapped for a link all the time leads no read and no write outside', async () => {
  const seen = new Map<string, number>();
  const count = (word: string): void => void seen.set(word, (seen.get(word) ?? 0) + 1);
  for (let i = 0; i < TRIES; i++) {
    count(`write ${await reasonOf(place.call('write_file', { path: 'dir/f.txt', content: `inside ${i}\n` }))}`);
    count(`make ${await reasonOf(place.call('write_file', { path: `dir/new/f${i}.txt`, content: 'inside\n' }))}`);
    const answer = place.call('read_file', { path: 'dir/f.txt' });
    count(`read ${await reasonOf(answer)}`);
    const text = await answer.then(
      ({ structured }) => structured['content'],
      () => 'inside',
    );
    expect(text).toContain('inside');
  }
  expect(readdirSync(join(place.home, 'outside'))).toEqual(['f.txt']);
  expect(readFileSync(join(place.home, 'outside/f.txt'), 'utf8')).toBe('outside\n');
  // The test has seen the one and the other, or it has shown nothing.
  expect(seen.get('write done')).toBeGreaterThan(0);
  expect([...seen.keys()].some((word) => word.endsWith('asked'))).toBe(true);
});

test('a search that meets the link finds nothing outside', async () => {
  for (let i = 0; i < 20; i++) {
    const { structured } = await place.call('search_files', { pattern: 'side' });
    expect(JSON.stringify(structured['matches'])).not.toContain('outside');
  }
});
