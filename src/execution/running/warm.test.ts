import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { identify } from './identity.ts';
import { readIdentity } from './identity-file.ts';
import { MARKER_VARIABLE } from './launcher.ts';
import { listPids, readStat } from './proc.ts';
import { type Bench, makeBench, until } from './testing.ts';
import { sweepWarm } from './warm.ts';

let bench: Bench;
beforeEach(() => {
  bench = makeBench(undefined, { warm_idle_ms: 3_000 });
});
afterEach(() => bench.close());

function records(): string[] {
  const folder = join(bench.hand.home, 'warm');
  return existsSync(folder) ? readdirSync(folder) : [];
}

function markerOf(folder: string): string {
  const identity = readIdentity(folder);
  return typeof identity === 'object' ? identity.marker : identity;
}

/** bubblewraps that are our children and alive. */
function sandboxes(): number[] {
  return (listPids() ?? []).filter((pid) => {
    const stat = readStat(pid);
    return typeof stat === 'object' && stat.ppid === process.pid && stat.state !== 'Z';
  });
}

/** Launchers that have said they are ready and now read from the gate (a system call on descriptor 6). */
function atGate(): number {
  return (listPids() ?? []).filter((pid) => {
    try {
      const isOurs = records().some((marker) => readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker));
      return isOurs && / 0x6 /.test(readFileSync(`/proc/${pid}/syscall`, 'latin1'));
    } catch {
      return false;
    }
  }).length;
}

async function warmed(): Promise<void> {
  bench.running.warm(bench.plan);
  await until(() => atGate() === 2);
  // Their word is on its way to us: one look at everything that waits, and it has arrived.
  await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('warm sandboxes', () => {
  it('serve one command each, with the identity of the one used on record', async () => {
    await warmed();
    const waiting = records();
    const first = await bench.run('echo one; echo left > /tmp/trace');
    const identity = readIdentity(first.folder);
    expect(identity).toMatchObject({ exec_id: first.receipt?.exec_id, marker: expect.stringMatching(/^warm_/) });
    expect(typeof identity === 'object' && waiting.includes(identity.marker)).toBe(true);
    const second = await bench.run('echo two');
    expect([first.output.stdout.head, second.output.stdout.head]).toEqual(['one\n', 'two\n']);
    expect(first.receipt?.pid_namespace).not.toBe(second.receipt?.pid_namespace);
  });

  it('that are still being prepared are waited for, and no further one is built', async () => {
    bench.running.warm(bench.plan);
    const coming = records();
    const runs = await Promise.all([bench.run('echo one'), bench.run('echo two')]);
    expect(coming).toHaveLength(2);
    expect(runs.map(({ folder }) => markerOf(folder)).toSorted()).toEqual(coming.toSorted());
  });

  it('that were used are replaced, the last one while its command runs', async () => {
    await warmed();
    const used = await Promise.all([bench.start('sleep 60'), bench.start('sleep 60')]);
    await until(() => atGate() === 2);
    for (const run of used) run.cancel('seen enough');
    await Promise.all(used.map((run) => run.done));
    expect(atGate()).toBe(2);
  });

  it('hand the file of their record on to the next', async () => {
    await warmed();
    const files = (): number[] => records().map((name) => statSync(join(bench.hand.home, 'warm', name)).ino);
    const [names, before] = [records(), files()];
    await bench.run('true');
    await until(() => atGate() === 2);
    expect(files().toSorted()).toEqual(before.toSorted());
    expect(records().filter((name) => names.includes(name))).toHaveLength(1);
  });

  it('serve any working directory', async () => {
    await warmed();
    const waiting = records();
    const folder = join(bench.hand.workspace, 'below');
    mkdirSync(folder);
    const run = await bench.run('pwd', { plan: { ...bench.plan, cwd: folder } });
    expect(run.output.stdout.head).toBe(`${folder}\n`);
    expect(waiting).toContain(markerOf(run.folder));
  });

  it('are never used for another plan', async () => {
    await warmed();
    const other = { ...bench.plan, key: 'another', env: { ...bench.plan.env, WHO: 'other' } };
    const { output, folder } = await bench.run('echo "$WHO"', { plan: other });
    expect(output.stdout.head).toBe('other\n');
    expect(readIdentity(folder)).toMatchObject({ marker: expect.stringMatching(/^exec_/) });
  });

  it('that died while waiting are replaced without a word', async () => {
    await warmed();
    for (const pid of sandboxes()) process.kill(pid, 'SIGKILL');
    // What is only about to die may still take a command.
    await until(() => atGate() === 0);
    const { outcome, output } = await bench.run('echo still');
    expect([outcome, output.stdout.head]).toEqual([{ state: 'exited', exit_code: 0 }, 'still\n']);
  });

  it('are ended when nobody uses them', async () => {
    await warmed();
    await until(() => sandboxes().length === 0 && records().length === 0);
  });

  it('go with close', async () => {
    await warmed();
    await bench.running.close();
    expect(sandboxes()).toEqual([]);
    expect(records()).toEqual([]);
  });

  it('go with close while they are being prepared', async () => {
    bench.running.warm(bench.plan);
    await bench.running.close();
    expect([sandboxes(), records()]).toEqual([[], []]);
  });

  it('whose supervisor is gone are found by their record, those of the living are left', async () => {
    await warmed();
    const before = sandboxes();
    const marker = newId('warm');
    const orphan = spawn('sleep', ['600'], { env: { [MARKER_VARIABLE]: marker } });
    const ended = new Promise((resolve) => orphan.on('exit', (_, signal) => resolve(signal)));
    const me = identify(process.pid);
    mkdirSync(join(bench.hand.home, 'warm'), { recursive: true });
    writeFileSync(join(bench.hand.home, 'warm', marker), JSON.stringify({ ...me, start: '1' }));
    expect(await sweepWarm(bench.hand.home)).toBe(1);
    expect(await ended).toBe('SIGKILL');
    expect(records()).not.toContain(marker);
    expect(sandboxes()).toEqual(before);
  });
});
