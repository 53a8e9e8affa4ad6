import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { selfIdentity } from './self-identity.ts';

it('tells this process from every other that had or will have its number', () => {
  const here = selfIdentity();
  expect(here).toEqual({
    pid: process.pid,
    boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    start_time: expect.stringMatching(/^\d+$/),
  });
  expect(selfIdentity()).toEqual(here);
  const program = `import { selfIdentity } from ${JSON.stringify(new URL('./self-identity.ts', import.meta.url).href)}; process.title = 'a) b ('; console.log(JSON.stringify(selfIdentity()))`;
  const { stdout, pid } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const other = JSON.parse(stdout);
  expect(other).toEqual({ pid, boot_id: here.boot_id, start_time: expect.stringMatching(/^\d+$/) });
  expect(Number(other.start_time)).toBeGreaterThan(Number(here.start_time));
});
