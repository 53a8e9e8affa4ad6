import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'writ-bootstrap-'));
// Lock files stand in the checkout; this name is no part's.
const name = `house-test-${process.pid}`;
const lock = join(root, `.${name}.lock`);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  rmSync(lock, { force: true });
});

/** A process that takes the lock, says so in the log, and leaves when the file `go` is there. */
function contender(log: string, go: string): ChildProcess {
  const text = `
    import { withLock } from ${JSON.stringify(join(root, 'scripts/bootstrap/lock.mjs'))};
    import { appendFileSync, existsSync } from 'node:fs';
    await withLock(${JSON.stringify(name)}, async () => {
      appendFileSync(${JSON.stringify(log)}, \`in \${process.pid}\\n\`);
      while (!existsSync(${JSON.stringify(go)})) await new Promise((r) => setTimeout(r, 5));
      appendFileSync(${JSON.stringify(log)}, \`out \${process.pid}\\n\`);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: 'ignore' });
  children.push(child);
  return child;
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((done) => child.on('close', done));
const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);

test('one holder at a time, and a killed holder is followed by exactly one', async () => {
  const log = join(folder, 'log');
  const go = join(folder, 'go');
  const first = contender(log, go);
  const firstGone = ended(first);
  await expect.poll(() => lines(log)).toEqual([`in ${first.pid}`]);
  const others = [contender(log, go), contender(log, go), contender(log, go)];
  const codes = Promise.all(others.map(ended));
  first.kill('SIGKILL');
  await firstGone;
  await expect.poll(() => lines(log).length).toBe(2);
  writeFileSync(go, '');
  expect(await codes).toEqual([0, 0, 0]);
  const after = lines(log).slice(1);
  expect(after.length).toBe(6);
  for (let index = 0; index < after.length; index += 2) expect(after[index + 1]).toBe(after[index]?.replace('in', 'out'));
  expect(existsSync(lock)).toBe(false);
});

test('a lock whose PID is another process by now is taken over', async () => {
  const go = join(folder, 'go-at-once');
  appendFileSync(go, '');
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  writeFileSync(lock, JSON.stringify({ boot, pid: process.pid, start: '1' }));
  const log = join(folder, 'log-reused');
  expect(await ended(contender(log, go))).toBe(0);
  expect(lines(log).length).toBe(2);
});
