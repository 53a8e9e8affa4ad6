import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRepositoryFinder } from './repositories.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
});
afterEach(() => bed.remove());
const below = (paths: readonly string[]): readonly string[] => paths.map((path) => path.slice(bed.workspace.length)).toSorted();

it('finds repositories near the top, and none in packages or build results', () => {
  for (const path of ['.git', 'a/.git', 'a/b/c/.git', 'node_modules/x/.git', 'target/.git']) bed.folder(join(bed.workspace, path));
  bed.file(join(bed.workspace, 'sub/.git'), 'gitdir: x');
  const found = createRepositoryFinder()(bed.workspace);
  expect(below(found.work_trees)).toEqual(['', '/a', '/a/b/c', '/sub']);
  expect(found.complete).toBe(true);
});

it('finds deep ones, bare ones, and those in folders that were closed', () => {
  bed.folder('work/app/1/2/3/4/5/6/7/8/.git');
  for (const part of ['objects', 'refs']) bed.folder(`work/app/store/${part}`);
  bed.file('work/app/store/HEAD', 'ref: refs/heads/main');
  bed.folder('work/app/closed/.git');
  chmodSync(bed.folder('work/app/closed'), 0o100);
  const found = createRepositoryFinder()(bed.workspace);
  expect([below(found.work_trees), below(found.bare)]).toEqual([['/1/2/3/4/5/6/7/8', '/closed'], ['/store']]);
});

it('finds settings in folders below, those inside of others left out', () => {
  for (const path of ['.vscode', 'a/.claude/.vscode', 'a/b/.mcp.json', '.claude/worktrees/x/.envrc', 'node_modules/x/.vscode', 'c/.idea']) {
    bed.folder(join(bed.workspace, path));
  }
  const found = createRepositoryFinder()(bed.workspace);
  expect(below(found.settings)).toEqual(['/a/.claude', '/a/b/.mcp.json', '/c/.idea']);
  expect(below([...found.folders])).toContain('/a/b');
});

it('says when it was too deep for it', () => {
  bed.folder(`work/app/${'d/'.repeat(17)}`);
  expect(createRepositoryFinder()(bed.workspace).complete).toBe(false);
});

it('sees what appears between two looks, in listings that it remembers', () => {
  const find = createRepositoryFinder();
  bed.folder('work/app/a/b');
  // Listings are remembered only once they are older than the clock's tick.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  try {
    for (let round = 0; round < 20; round++) {
      expect(below(find(bed.workspace).work_trees)).toEqual(Array.from({ length: round }, (_, i) => `/a/b/r${i}`).toSorted());
      bed.folder(`work/app/a/b/r${round}/.git`);
    }
  } finally {
    vi.useRealTimers();
  }
});

it('says when it did not see everything, and keeps what it knew before a flood of folders', () => {
  const find = createRepositoryFinder();
  bed.folder('work/app/z/deep/repo/.git');
  expect(below(find(bed.workspace).work_trees)).toEqual(['/z/deep/repo']);
  for (let i = 0; i < 1100; i++) bed.folder(`work/app/decoy${i}`);
  const found = find(bed.workspace);
  expect([below(found.work_trees), found.complete]).toEqual([['/z/deep/repo'], false]);
  expect(createRepositoryFinder()(bed.workspace).complete).toBe(false);
});

it('has nothing to say about a folder that is not there', () => {
  expect(createRepositoryFinder()(join(bed.base, 'absent'))).toEqual({
    work_trees: [],
    bare: [],
    settings: [],
    folders: new Set(),
    sockets: [],
    complete: true,
  });
});
