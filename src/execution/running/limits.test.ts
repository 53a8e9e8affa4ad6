import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { candidates, detectHierarchies } from './cgroup-detect.ts';
import { countIn, readsBack } from './cgroup-table.ts';
import { TEST_LIMITS } from './hand-plan.ts';
import { countsProcessesPerNamespace, parseHardLimits, processLimitReports, ulimitLines } from './rlimits.ts';
import { type Bench, isRoot, makeBench } from './testing.ts';

describe('control groups', () => {
  it('are found in version 1 and hybrid, by controller', () => {
    const mountinfo = [
      '31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
      '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
      '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    ].join('\n');
    const found = detectHierarchies(mountinfo, '4:memory:/a/b\n1:cpu,cpuacct:/\n0::/x\n');
    expect(found.map(({ version, controllers, own }) => [version, controllers, own])).toEqual([
      [1, ['memory'], '/sys/fs/cgroup/memory/a/b'],
      [1, ['cpu'], '/sys/fs/cgroup/cpu,cpuacct'],
      [2, ['memory', 'pids', 'cpu'], '/sys/fs/cgroup/unified/x'],
    ]);
  });

  it('are found in version 2, also under a mount point with a blank and inside a container', () => {
    const at = (line: string, self: string) => detectHierarchies(line, self).map((one) => candidates(one));
    expect(at('30 1 0:1 / /sys/fs/cgroup rw shared:4 - cgroup2 c rw', '0::/user.slice/a.scope\n')).toEqual([
      ['/sys/fs/cgroup/user.slice/a.scope', '/sys/fs/cgroup/user.slice', '/sys/fs/cgroup'],
    ]);
    expect(at('30 1 0:1 /docker/1 /a\\040b rw - cgroup2 c rw', '0::/docker/1/x\n')).toEqual([['/a b/x', '/a b']]);
    // A part of the hierarchy that isn't ours, and a group above the mounted part.
    expect(at('30 1 0:1 /docker/1 /c rw - cgroup2 c rw', '0::/docker/12\n')).toEqual([]);
    expect(at('30 1 0:1 / /c rw - cgroup2 c rw', '0::/../x\n')).toEqual([]);
  });

  it('count as set when the kernel rounded down to a page, and not otherwise', () => {
    expect(readsBack('100000', '98304')).toBe(true);
    expect(readsBack('100000', 'max')).toBe(false);
    expect(readsBack('100000', '200000')).toBe(false);
    expect(countIn('low 0\noom_kill 3\n', 'oom_kill')).toBe(3);
  });
});

describe('limits of the shell', () => {
  it('never exceed what we have ourselves', () => {
    const hard = parseHardLimits(
      'Max open files            100                 512                 files\nMax file size  unlimited unlimited bytes\n',
    );
    expect(hard).toMatchObject({ open_files: 512, file_bytes: Number.POSITIVE_INFINITY });
    expect(ulimitLines(TEST_LIMITS, hard, {})).toContain('ulimit -SHn 512 || exit 125');
  });

  it('say what they are worth', () => {
    expect(processLimitReports({}, false).pids).toMatchObject({ state: 'not_enforced' });
    expect(processLimitReports({ memory: { state: 'enforced', by: 'cgroup v2' } }).memory).toEqual({ state: 'enforced', by: 'cgroup v2' });
    expect([countsProcessesPerNamespace('5.13.9'), countsProcessesPerNamespace('5.14.0-x'), countsProcessesPerNamespace('6.1')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

const identities = isRoot ? [undefined, 65534] : [undefined];

describe.each(identities)('a run at its limits (dropped to %s)', (uid) => {
  let bench: Bench;
  beforeAll(() => {
    bench = makeBench(uid);
  });
  afterAll(() => bench.close());
  const limited = (changes: Partial<typeof TEST_LIMITS>) => {
    const limits = { ...TEST_LIMITS, ...changes };
    return { plan: { ...bench.plan, limits, key: JSON.stringify(limits) } };
  };

  it('memory', async () => {
    const { output, receipt } = await bench.run(
      'head -c 200000000 /dev/zero | tail > /dev/null; echo "$?"',
      limited({ memory_bytes: 64 * 1024 * 1024 }),
    );
    expect(output.stdout.head).not.toBe('0\n');
    if (receipt?.containment.dimensions.memory.state === 'enforced') expect(receipt.limits_hit).toEqual(['memory']);
  });

  it('processes', async () => {
    const command = 'for ((i = 0; i < 100; i++)); do sleep 60 & done 2>&1 | grep -c "retry\\|unavailable"';
    const run = await bench.start(command, { ...limited({ pids: 20 }), spec: { timeout_ms: 2_000 } });
    const { receipt, output } = await run.done;
    const { pids } = receipt?.containment.dimensions ?? {};
    if (pids?.by?.startsWith('cgroup')) expect(receipt?.limits_hit).toEqual(['pids']);
    if (pids?.state === 'enforced') expect(output.combined.total_bytes).toBeLessThan(1_000_000);
    expect(receipt?.teardown.verified).toBe(true);
  });

  it('size of a file', async () => {
    const { outcome, receipt } = await bench.run('exec head -c 3000000 /dev/zero > big', limited({ file_bytes: 1024 * 1024 }));
    expect(outcome).toEqual({ state: 'exited', exit_code: 153 });
    expect(receipt?.limits_hit).toEqual(['fsize']);
  });

  it('open files and core files, which can not be raised again', async () => {
    const { output } = await bench.run('ulimit -Hn; ulimit -Hc; ulimit -n 500 2>/dev/null; echo $?', limited({ open_files: 50 }));
    expect(output.stdout.head).toBe('50\n0\n1\n');
  });

  it('private folders', async () => {
    const { outcome, receipt } = await bench.run(
      'for ((i = 0; ; i++)); do head -c 1000000 /dev/zero > "/tmp/f$i" || exit; done',
      limited({ disk_bytes: 20_000_000 }),
    );
    expect(outcome).toEqual({ state: 'exited', exit_code: 137, signal: 'SIGKILL' });
    expect(receipt?.limits_hit).toEqual(['disk']);
  });

  it('spool', async () => {
    const { output, receipt } = await bench.run('head -c 1000000 /dev/zero', limited({ disk_bytes: 100_000 }));
    expect(output).toMatchObject({ stdout: { total_bytes: 1_000_000 } });
    expect(output.spooled_bytes).toBeLessThanOrEqual(100_000);
    expect(receipt?.limits_hit).toEqual(['output']);
    expect(receipt?.hints.join()).toContain('limit of 100000 bytes');
  });

  it('leaves no group behind', async () => {
    const own = makeBench(uid);
    const { receipt } = await own.run('true');
    await own.close();
    for (const folder of receipt?.cgroup?.split(':') ?? []) {
      const parent = folder.replace(/\/writ-[^/]+\/[^/]+$/, '');
      expect(readdirSync(parent).filter((name) => name === folder.split('/').at(-2))).toEqual([]);
      expect(readFileSync(`${parent}/cgroup.procs`, 'utf8').split('\n')).toContain(String(process.pid));
    }
  });
});
