import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, makeBed } from '../containment/testing.ts';
import { planUncontained } from '../containment/uncontained.ts';
import type { ContainedRun, Running } from '../core-types.ts';
import { createProcesses } from '../jobs/running-processes.ts';
import { DIMENSIONS, type RunResult, type RunSpec } from '../types.ts';
import { createRunning } from './index.ts';
import { until } from './testing.ts';

let bed: Bed;
let running: Running;
const bystanders: ChildProcess[] = [];
beforeEach(() => {
  bed = makeBed();
  running = createRunning(bed.config, systemClock);
});
afterEach(async () => {
  await running.close();
  bed.remove();
  for (const child of bystanders.splice(0)) child.kill('SIGKILL');
});

let folder = '';
async function begin(command: string, more: Partial<RunSpec> = {}): Promise<ContainedRun> {
  const spec = bed.spec({ command, uncontained: true, ...more });
  const exec_id = newId('exec');
  folder = bed.folder(`people/dev/.writ/${exec_id}`);
  return running.start({ exec_id, spec, plan: planUncontained(spec, bed.config), folder, durable: false, logger: silentLogger });
}
const run = async (command: string, more: Partial<RunSpec> = {}): Promise<RunResult> => (await begin(command, more)).done;
const alive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
const numbers = (text: string): number[] => text.split(/\s+/).filter(Boolean).map(Number);

describe('a run that a person let out of containment', () => {
  it('is the person in their own home, with nothing of ours around it', async () => {
    const result = await run(
      `cat ${bed.user_home}/secret.txt; echo; pwd; echo $HOME; readlink /proc/self/ns/pid; ls /proc/self/fd | wc -w; exit 3`,
    );
    expect(result.output.stdout.head.split('\n')).toEqual([
      'the secret of the home',
      bed.workspace,
      bed.user_home,
      expect.stringMatching(/^pid:/),
      '4',
      '',
    ]);
    expect(result.output.stdout.head).toContain((await import('node:fs')).readlinkSync('/proc/self/ns/pid'));
    expect(result.outcome).toEqual({ state: 'exited', exit_code: 3 });
  });

  it('says so in every dimension', async () => {
    const { receipt } = await run('true');
    expect(receipt?.containment.backend).toBe('none');
    for (const name of DIMENSIONS.filter((one) => /^(fs|network|unix|pid_ns|user|caps|seccomp|disk|proc|tmp|uid)/.test(one)))
      expect(receipt?.containment.dimensions[name], name).toMatchObject({
        state: 'not_enforced',
        reason: expect.stringContaining('was allowed to run without containment'),
      });
    expect(receipt?.containment.notes).toEqual([expect.stringContaining('ran without containment as uid')]);
    expect(receipt?.pid_namespace).toBeUndefined();
  });

  it('gets an environment from the allow-list, and no secret', async () => {
    const result = await begin('env').then((started) => started.done);
    expect(result.output.stdout.head).not.toMatch(/GIT_CONFIG_COUNT|NODE_OPTIONS|VITEST/);
    expect(result.output.stdout.head).toMatch(/^SUDO_ASKPASS=\/bin\/false$/m);
  });

  it('what it leaves behind is ended with it, and nobody else', async () => {
    const bystander = spawn('/bin/sleep', ['300'], { stdio: 'ignore', detached: true });
    bystanders.push(bystander);
    const result = await run(
      'sleep 300 >/dev/null 2>&1 & echo $!; setsid sleep 300 >/dev/null 2>&1 & echo $!; (setsid sleep 300 >/dev/null 2>&1 & echo $!)',
    );
    const left = numbers(result.output.stdout.head);
    expect(left).toHaveLength(3);
    expect(left.filter(alive)).toEqual([]);
    expect(bystander.pid !== undefined && alive(bystander.pid)).toBe(true);
    const { teardown } = result.receipt ?? {};
    // Proved only where there is a control group to be seen empty.
    expect(teardown).toMatchObject(
      result.receipt?.cgroup === undefined ? { verified: false, method: 'scan' } : { verified: true, method: 'cgroup_empty' },
    );
  });

  it('a deadline ends what ignores TERM', async () => {
    const result = await run('trap "" TERM; (trap "" TERM; sleep 300) & echo $!; sleep 300', { timeout_ms: 300 });
    expect(numbers(result.output.stdout.head).filter(alive)).toEqual([]);
    expect(result.outcome).toMatchObject(result.receipt?.cgroup === undefined ? { state: 'lost' } : { state: 'timed_out', exit_code: 124 });
  });

  it('a signal that is handled has its last words', async () => {
    const started = await begin('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
    await until(() => started.view().stdout.head.includes('up'));
    started.cancel('enough');
    expect((await started.done).output.stdout.head).toContain('bye');
  });

  it('is found by its record when its supervisor is gone', async () => {
    const started = await begin('setsid sleep 300 >/dev/null 2>&1 & echo $!; sleep 300');
    await until(() => started.view().stdout.head.includes('\n'));
    const [left = 0] = numbers(started.view().stdout.head);
    expect(alive(left)).toBe(true);
    const report = await createProcesses(bed.config.home, systemClock).endRun(folder);
    expect(report?.survivors).toEqual([]);
    expect(alive(left)).toBe(false);
    await started.done;
  });

  it('may not be given less than everything, nor a folder outside', () => {
    const plan = (more: Partial<RunSpec>) => (): unknown => planUncontained(bed.spec({ uncontained: true, ...more }), bed.config);
    expect(plan({ network: { hosts: ['a.example'], presets: [] } })).toThrow(/everything open already/);
    expect(plan({ cwd: join(bed.base, 'people') })).toThrow(/inside a workspace/);
  });
});
