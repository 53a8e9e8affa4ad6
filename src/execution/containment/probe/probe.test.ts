import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../kernel/logger.ts';
import { DIMENSIONS, type ProbeResult } from '../../types.ts';
import { createContainment } from '../index.ts';
import { type Bed, isRoot, makeBed } from '../testing.ts';
import { adviceFor } from './advice.ts';
import { CHECKS, failures } from './checks.ts';
import { NAMESPACES } from './script.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
});
afterEach(() => bed.remove());

const probe = (bwrap: string): Promise<ProbeResult> =>
  createContainment({ ...bed.config, bwrap_candidates: [bwrap] }, silentLogger).probe();
const script = (body: string): string => bed.file('fake-bwrap', `#!/bin/bash\n${body}\n`, 0o755);

describe('the probe', () => {
  it('proves containment on this machine, reports every dimension, and leaves nothing behind', async () => {
    const result = await createContainment(bed.config, silentLogger).probe();
    expect(result).toMatchObject({ ok: true, backend: { path: '/usr/bin/bwrap', version: expect.stringMatching(/^\d+\.\d+/) } });
    if (!result.ok) return;
    expect(Object.keys(result.report.dimensions).toSorted()).toEqual([...DIMENSIONS].toSorted());
    for (const dimension of ['fs_read', 'fs_write', 'network', 'pid_ns', 'wall_clock', 'caps', 'env'] as const) {
      expect([dimension, result.report.dimensions[dimension].state]).toEqual([dimension, 'enforced']);
    }
    expect(readdirSync(bed.config.home).toSorted()).toEqual(['key', 'private']);
    expect(readdirSync(join(bed.config.home, 'private'))).toEqual([expect.stringMatching(/^etc-/)]);
  });

  it('is kept while nothing changes, and made anew on request', async () => {
    const containment = createContainment(bed.config, silentLogger);
    const first = await containment.probe();
    const again = await containment.probe();
    expect(again.probed_at).toBe(first.probed_at);
    const fresh = await containment.probe({ fresh: true });
    expect(fresh.probed_at).toBeGreaterThanOrEqual(first.probed_at);
    expect(fresh.ok).toBe(true);
  });

  it('says how to install what is missing, and no plan is made', async () => {
    const containment = createContainment({ ...bed.config, bwrap_candidates: ['/nowhere/bwrap'] }, silentLogger);
    expect(await containment.probe()).toMatchObject({
      ok: false,
      cause: expect.stringContaining('not installed'),
      fix: expect.stringContaining('apt-get install bubblewrap'),
    });
    await expect(containment.plan(bed.spec())).rejects.toMatchObject({ code: 'containment_unavailable' });
  });

  it('is not taken in by a backend that runs the command without containing it', async () => {
    // It walks to the end of the options and runs what follows, as the host. The script must see that and touch nothing.
    const result = await probe(script('while [[ $1 != -- ]]; do shift; done; shift; exec "$@"'));
    expect(result).toMatchObject({ ok: false, cause: expect.stringContaining('does not contain') });
    if (!result.ok) expect(JSON.parse(result.detail)).toMatchObject({ finished: 'uncontained' });
    if (!result.ok) expect(result.detail).not.toContain('write_');
  });

  it.each(['--unshare-net', '--cap-drop', '--disable-userns', '--remount-ro'])('notices when %s is lost on the way', async (option) => {
    const result = await probe(
      script(`args=(); while IFS= read -r -d '' one; do
        if [[ $one == ${option} ]]; then ${option === '--cap-drop' || option === '--remount-ro' ? "IFS= read -r -d '' skipped" : ':'}; else args+=("$one"); fi
      done <&3; shift 2; [[ $1 == --seccomp ]] && shift 2; exec /usr/bin/bwrap "\${args[@]}" "$@"`),
    );
    expect(result.ok).toBe(false);
  });

  it.each([
    ['bwrap: setting up uid map: Permission denied', 'namespaces'],
    ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'AppArmor'],
    [
      'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      'limit of user namespaces',
    ],
    ['bwrap: Unknown option --disable-userns', 'too old'],
    ['bwrap: Failed to make / slave: Permission denied', 'container'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'container'],
    ['bwrap: something nobody has seen', 'could not build'],
  ])('turns "%s" into advice', async (stderr, cause) => {
    const result = await probe(script(`echo ${JSON.stringify(stderr)} >&2; exit 1`));
    expect(result).toMatchObject({ ok: false, cause: expect.stringContaining(cause), detail: stderr });
    if (!result.ok) expect(result.fix.length).toBeGreaterThan(20);
  });

  it('proves the way of root in other people’s workspaces when it is first needed', async () => {
    if (!isRoot) return;
    const containment = createContainment(bed.config, silentLogger);
    await containment.probe();
    expect(existsSync(join(bed.base, 'shared'))).toBe(false);
    bed.give(bed.workspace, 65534);
    expect((await containment.plan(bed.spec())).drop).toEqual({ uid: 65534, gid: 65534 });
  });
});

it('knows the kernel’s own settings when it gives advice', () => {
  const stderr = 'bwrap: setting up uid map: Operation not permitted';
  expect(adviceFor(stderr, { apparmor_restrict: '1' }).fix).toContain('apparmor_parser');
  expect(adviceFor(stderr, { userns_clone: '0' }).fix).toContain('unprivileged_userns_clone');
  expect(adviceFor(stderr, { max_user_namespaces: '0' }).fix).toContain('max_user_namespaces');
  expect(adviceFor(stderr, {}).cause).toContain('container');
});

it('counts each fact that is missing or wrong as a failure', () => {
  const good = Object.fromEntries(
    CHECKS.map(({ fact, expect: wanted }) => [
      fact,
      wanted === 'zero' ? '0000' : wanted === 'differs' ? 'inside' : typeof wanted === 'string' ? wanted : wanted.value,
    ]),
  );
  const host = Object.fromEntries(NAMESPACES.map((name) => [name, 'outside']));
  expect(failures(good, host, false)).toEqual([]);
  for (const { fact, means } of CHECKS) {
    const { [fact]: _, ...missing } = good;
    expect(failures(missing, host, false)).toContain(means);
    expect(failures({ ...good, [fact]: fact === 'CapEff' || fact === 'CapBnd' ? '01' : 'outside' }, host, false)).toContain(means);
  }
  expect(failures(good, host, true)).toEqual(['the system call filter is not in force']);
  expect(failures({ ...good, Seccomp: '2' }, host, true)).toEqual([]);
});
