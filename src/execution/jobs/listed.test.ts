import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { createListed } from './listed.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'writ-listed-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a job that comes or goes is seen at once, however soon after another', () => {
  const path = folder();
  const listed = createListed(path);
  expect(listed()).toEqual([]);
  const ids = Array.from({ length: 50 }, (_, at) => newId('job', at));
  for (const [at, id] of ids.entries()) {
    mkdirSync(join(path, id));
    expect(listed()).toEqual(ids.slice(0, at + 1));
  }
  rmSync(join(path, ids[0] ?? ''), { recursive: true });
  expect(listed()).toEqual(ids.slice(1));
});

test('what changed lately is never taken for settled, also where its times were set back', () => {
  const path = folder();
  const listed = createListed(path);
  const old = new Date(1_000_000);
  utimesSync(path, old, old);
  expect(listed()).toEqual([]);
  const id = newId('job', 1);
  mkdirSync(join(path, id));
  utimesSync(path, old, old);
  expect(listed()).toEqual([id]);
});
