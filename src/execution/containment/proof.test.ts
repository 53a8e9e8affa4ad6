import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import type { Containment, ExecutionConfig, ProbeMode, Proof, ProofStore } from '../core-types.ts';
import { createContainment } from './index.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
let bwrap: string;
let kept: Map<ProbeMode, Proof>;
let store: ProofStore;
beforeEach(() => {
  bed = makeBed();
  // The real one, which counts its starts and fails on request.
  bwrap = bed.file(
    'bwrap',
    `#!/bin/bash
[[ $1 == --version ]] || echo >> ${bed.base}/starts
if [[ -e ${bed.base}/broken && $1 != --version ]]; then echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1; fi
exec /usr/bin/bwrap "$@"
`,
    0o755,
  );
  kept = new Map();
  store = { load: (mode) => kept.get(mode), save: (mode, proof) => void kept.set(mode, proof), drop: (mode) => void kept.delete(mode) };
});
afterEach(() => {
  vi.useRealTimers();
  bed.remove();
});

const make = (changes: Partial<ExecutionConfig> = {}): Containment =>
  createContainment({ ...bed.config, bwrap_candidates: [bwrap], ...changes }, silentLogger, store);
const probes = (): number => (existsSync(join(bed.base, 'starts')) ? readFileSync(join(bed.base, 'starts'), 'utf8').length : 0);

describe('a proof', () => {
  it('serves the processes that come after', async () => {
    const first = await make().probe();
    const second = make();
    expect(await second.probe()).toEqual(first);
    await second.plan(bed.spec());
    expect(probes()).toBe(1);
  });

  it.each([
    ['bubblewrap was changed', () => utimesSync(bwrap, 1, 1), {}],
    ['only its mode was changed', () => chmodSync(bwrap, 0o775), {}],
    ['the program is another version', () => {}, { version: '2' }],
    ['the PATH that it reports on is another', () => {}, { host_env: { PATH: '/bin' } }],
    ['it is a day old', () => vi.setSystemTime(Date.now() + 24 * 3_600_000), {}],
    ['it comes from the future', () => vi.setSystemTime(Date.now() - 3_600_000), {}],
  ] as const)('is made again when %s', async (_why, change, config) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await make().probe();
    change();
    expect(await make(config).probe()).toMatchObject({ ok: true });
    expect(probes()).toBe(2);
  });

  it('of another machine or of nobody knows what is not believed', async () => {
    const first = await make().probe();
    const proof = kept.get('self');
    if (!proof || !first.ok) throw new Error('no proof was kept');
    kept.set('self', { ...proof, key: proof.key.replace(/^./, (letter) => (letter === '0' ? '1' : '0')) });
    await make().probe();
    expect(probes()).toBe(2);
  });

  it('is not kept when it failed, and tried again soon', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const broken = bed.file('broken');
    const containment = make();
    expect(await containment.probe()).toMatchObject({ ok: false, cause: expect.stringContaining('namespaces') });
    expect(await containment.probe()).toMatchObject({ ok: false });
    expect([probes(), kept.size]).toEqual([1, 0]);
    rmSync(broken);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await containment.probe()).toMatchObject({ ok: true });
    expect(kept.size).toBe(1);
  });
});

describe('a sandbox that could not be built', () => {
  it('makes a proof from before doubtful, once; one made since is good enough', async () => {
    const containment = make();
    const plan = await containment.plan(bed.spec());
    const since = Date.now() + 1;
    await vi.waitUntil(() => Date.now() >= since);
    await Promise.all([containment.doubt(plan, since), containment.doubt(plan, since)]);
    expect(probes()).toBe(2);
    expect(kept.get('self')?.probed_at).toBeGreaterThanOrEqual(since);
  });

  it('because containment is gone, says so with what to do, and no process believes the old proof', async () => {
    const containment = make();
    const plan = await containment.plan(bed.spec());
    writeFileSync(join(bed.base, 'broken'), '');
    await expect(containment.doubt(plan, Date.now() + 1)).rejects.toMatchObject({
      code: 'containment_unavailable',
      fix: expect.stringMatching(/./),
    });
    expect(kept.size).toBe(0);
    await expect(containment.plan(bed.spec())).rejects.toMatchObject({ code: 'containment_unavailable' });
    expect(await make().probe()).toMatchObject({ ok: false });
  });
});

it('leaves nothing behind, not even when it can’t begin', async () => {
  const home = bed.file('plain-file');
  expect(await make({ home }).probe()).toMatchObject({ ok: false });
  await make().probe();
  expect(readdirSync(bed.config.home).filter((name) => name.startsWith('probe-'))).toEqual([]);
});
