import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createJson } from './json-file.ts';
import { createSpareFolder } from './spare-folder.ts';
import { tempHome } from './testing.ts';

let home: string;
let parent: string;
beforeEach(() => {
  home = tempHome();
  parent = join(home, 'spares');
  mkdirSync(parent);
});

test('one is made ahead, private, and becomes what it is taken for, once; what it was made when does not show', async () => {
  const spare = createSpareFolder(parent);
  expect(spare.take(join(home, 'a'))).toBe(false);
  await Promise.all([spare.prepare(), spare.prepare()]);
  expect(readdirSync(parent)).toHaveLength(1);
  utimesSync(join(parent, readdirSync(parent)[0] ?? ''), 1, 1);
  expect(spare.take(join(home, 'a'))).toBe(true);
  expect(statSync(join(home, 'a'))).toMatchObject({ mode: 0o40700 });
  expect(Date.now() - statSync(join(home, 'a')).mtimeMs).toBeLessThan(60_000);
  expect(spare.take(join(home, 'b'))).toBe(false);
  expect(readdirSync(parent)).toEqual([]);
  // Its blanks become files of their names, and none is left.
  for (const name of ['spec.json', 'owner.json', 'identity.json', 'result.json']) {
    expect(createJson(join(home, 'a'), name, { name }, { durable: false })).toBe(true);
    expect(createJson(join(home, 'a'), name, {}, { durable: false })).toBe(false);
    expect(JSON.parse(readFileSync(join(home, 'a', name), 'utf8'))).toMatchObject({ name });
  }
  expect(readdirSync(join(home, 'a')).sort()).toEqual(['identity.json', 'owner.json', 'result.json', 'spec.json']);
});

test('one that somebody has removed is none, and the next is made again', async () => {
  const spare = createSpareFolder(parent);
  await spare.prepare();
  rmSync(join(parent, readdirSync(parent)[0] ?? ''), { recursive: true });
  expect(spare.take(join(home, 'a'))).toBe(false);
  expect(existsSync(join(home, 'a'))).toBe(false);
  await spare.prepare();
  expect(spare.take(join(home, 'a'))).toBe(true);
});

test('nothing is left at the end, also of one that is just being made', async () => {
  const ready = createSpareFolder(parent);
  await ready.prepare();
  await ready.close();
  expect(readdirSync(parent)).toEqual([]);
  const late = createSpareFolder(parent);
  void late.prepare();
  await late.close();
  expect(readdirSync(parent)).toEqual([]);
  await late.prepare();
  expect(readdirSync(parent)).toEqual([]);
});
