import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withFileLock } from './file-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = (): readonly string[] => readdirSync(folder).sort();

/** A process that holds the lock, or waits for it, until it is killed. */
async function killed(): Promise<void> {
  const script = `const { withFileLock } = await import(${JSON.stringify(fileURLToPath(new URL('./file-lock.ts', import.meta.url)))});
    setInterval(() => {}, 1e6);
    await withFileLock(${JSON.stringify(join(folder, 'a.lock'))}, async () => { console.log('held'); await new Promise(() => {}); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('what killed holders left is swept by the next one, and nothing else is', async () => {
  await killed();
  const [lock = '', draft = ''] = files();
  expect([lock, draft]).toEqual(['a.lock', expect.stringMatching(/^a\.lock\.\d+-[0-9a-f]{8}\.tmp$/)]);
  // Cut while it was written; of a process that lives; of another lock; of nobody.
  const dead = draft.split('.')[2]?.split('-')[0];
  const others = [`a.lock.${process.pid}-00000000.tmp`, `ab.lock.${dead}-00000000.tmp`, 'a.lock.notes.tmp'];
  for (const name of [`a.lock.${dead}-11111111.tmp`, `a.lock.${dead}-22222222.tmp.copy`, ...others]) writeFileSync(join(folder, name), '');
  expect(await withFileLock(join(folder, 'a.lock'), async () => 7)).toBe(7);
  expect(files()).toEqual([...others].sort());
});

test('one at a time; a fault of the work lets go of it', async () => {
  const order: string[] = [];
  const path = join(folder, 'a.lock');
  const work = (name: string) => async (): Promise<void> => {
    order.push(`${name} in`);
    await Promise.resolve();
    order.push(`${name} out`);
  };
  await Promise.all([withFileLock(path, work('one')), withFileLock(path, work('two'))]);
  expect(order).toEqual(['one in', 'one out', 'two in', 'two out']);
  await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(files()).toEqual([]);
});
