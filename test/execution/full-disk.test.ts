import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, NEVER, OWNER, type Place } from './place.ts';

/** A disk of its own needs a mount. */
const root = process.getuid?.() === 0;

describe.skipIf(!root)('a full disk', () => {
  let mount: string;
  let place: Place;
  beforeEach(() => {
    mount = mkdtempSync(join(tmpdir(), 'writ-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0755', 'tmpfs', mount]);
    place = makePlace({ home: join(mount, 'writ') });
  });
  afterEach(async () => {
    await place.remove();
    execFileSync('umount', ['--lazy', mount]);
    rmSync(mount, { recursive: true, force: true });
  });

  let files = 0;
  /** Leaves no whole page: sizes go down until not even the smallest fits. */
  const fill = (): void => {
    for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
      try {
        for (;;) writeFileSync(join(mount, `fill${files++}`), Buffer.alloc(bytes));
      } catch {
        // This size doesn't fit any more.
      }
    }
  };
  const makeSpace = (): void => {
    for (const name of readdirSync(mount)) if (name.startsWith('fill')) rmSync(join(mount, name));
  };

  it('starts nothing and says so; with space again it goes on', async () => {
    const execution = place.execution();
    // Everything else that a run needs is there by then: what fails is the record.
    await execution.run(place.spec('true'), NEVER);
    fill();
    await expect(execution.run(place.spec('touch ran'), NEVER)).rejects.toMatchObject({ code: 'disk_full' });
    await expect(execution.jobs.start(place.spec('touch ran'), NEVER)).rejects.toMatchObject({ code: 'disk_full' });
    expect(place.lines('ran')).toEqual([]);
    expect(existsSync(join(place.workspace, 'ran'))).toBe(false);
    expect(readdirSync(join(place.home, 'jobs'))).toEqual([]);
    expect(readdirSync(join(place.home, 'runs'))).toEqual(['ended']);
    makeSpace();
    expect(await execution.run(place.spec('true'), NEVER)).toMatchObject({ outcome: { exit_code: 0 } });
  });

  it('does not keep a job from being recorded as ended, nor from being cancelled', async () => {
    const execution = place.execution();
    const ending = await execution.jobs.start(place.spec('until [ -e go ]; do sleep 0.02; done; yes | head -c 300000; exit 7'), NEVER);
    const cancelled = await execution.jobs.start(place.spec('sleep 50.0901'), NEVER);
    fill();
    writeFileSync(join(place.workspace, 'go'), '');
    await expect.poll(async () => (await execution.jobs.get(ending.job_id))?.state, { timeout: 10_000 }).toBe('exited');
    const record = await execution.jobs.get(ending.job_id);
    expect(record).toMatchObject({ exit_code: 7, total_bytes: 300_000 });
    // What can't be marked as told is told later.
    fill();
    expect(await execution.jobs.takeEnded(OWNER)).toEqual([]);
    expect(await execution.jobs.cancel(cancelled.job_id, 'enough')).toMatchObject({
      state: 'cancelled',
      receipt: { teardown: { verified: true } },
    });
    makeSpace();
    expect(await execution.jobs.takeEnded(OWNER)).toHaveLength(2);
  });
});
