import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, isRoot, makeBench, until } from './testing.ts';

const identities = isRoot ? [undefined, 65534] : [undefined];
const pty = { cols: 100, rows: 30 };

describe.each(identities)('a terminal (dropped to %s)', (uid) => {
  let bench: Bench;
  beforeAll(() => {
    bench = makeBench(uid);
  });
  afterAll(() => bench.close());

  it('is one, of the size asked for, and the controlling one', async () => {
    const { outcome, output } = await bench.run('test -t 0 && test -t 1 && test -t 2 && stty size; echo direct > /dev/tty; exit 7', {
      spec: { pty },
    });
    expect(output.stdout.head).toBe('30 100\r\ndirect\r\n');
    expect(output.stderr.total_bytes).toBe(0);
    expect(outcome).toEqual({ state: 'exited', exit_code: 7 });
  });

  it('loses no byte at the end', async () => {
    for (let round = 0; round < 10; round++) {
      const { output } = await bench.run('seq 60000; printf END', { spec: { pty } });
      expect(output.stdout.total_bytes).toBe(408_897);
      expect(output.stdout.tail.slice(-3)).toBe('END');
    }
  });

  it('takes input, and Ctrl-C reaches the command and not the sandbox', async () => {
    const run = await bench.start('trap "echo caught; exit 9" INT; read -r line; echo "[$line]"; sleep 600 & wait', { spec: { pty } });
    expect(run.write(Buffer.from('typed\r'))).toBe(true);
    await until(() => run.view().stdout.head.includes('[typed]'));
    run.write(Buffer.from([3]));
    const { outcome, output } = await run.done;
    expect(outcome).toEqual({ state: 'exited', exit_code: 9 });
    expect(output.stdout.head).toContain('caught');
    expect(run.write(Buffer.from('late'))).toBe(false);
  });

  it('can be resized while it lives; afterwards that does nothing', async () => {
    const run = await bench.start('trap "stty size; exit" WINCH; echo up; while :; do sleep 0.05; done', { spec: { pty } });
    await until(() => run.view().stdout.head.includes('up'));
    run.resize(77, 22);
    const { output } = await run.done;
    expect(output.stdout.head).toContain('22 77');
    run.resize(80, 24);
  });

  it('refuses more input than it can hold for a command that does not read', async () => {
    const run = await bench.start('stty raw; echo up; sleep 600', { spec: { pty } });
    await until(() => run.view().stdout.head.includes('up'));
    const block = Buffer.alloc(256 * 1024, 'x');
    let accepted = 0;
    while (run.write(block) && accepted < 100) accepted++;
    expect(accepted).toBeLessThan(10);
    run.cancel('enough');
    expect((await run.done).receipt?.teardown.verified).toBe(true);
  });

  it('leaves no descriptor behind', async () => {
    await bench.run('echo warm up', { spec: { pty } });
    const before = readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 10; round++) await bench.run('echo x', { spec: { pty } });
    await until(() => readdirSync('/proc/self/fd').length <= before);
  });

  it('of one run is no door into another', async () => {
    const run = await bench.start('echo up; sleep 600', { spec: { pty } });
    await until(() => run.view().stdout.head.includes('up'));
    const { output } = await bench.run('cd /proc/self/fd; readlink * ; readlink /proc/1/fd/*');
    expect(output.stdout.head).not.toMatch(/ptmx|pts/);
    run.cancel('enough');
    await run.done;
  });
});
