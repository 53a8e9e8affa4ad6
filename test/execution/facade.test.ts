import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Execution, SpoolPage } from '../../src/execution/index.ts';
import { makePlace, NEVER, OWNER, type Place, processesWith } from './place.ts';

let place: Place;
let execution: Execution;
beforeAll(() => {
  place = makePlace();
  execution = place.execution();
});
afterAll(() => place.remove());

const ENDED = { exec: /^exec_/ };

async function readAll(job_id: string): Promise<{ text: string; last: SpoolPage }> {
  let text = '';
  for (let cursor = 0; ; ) {
    const page = await execution.jobs.output(job_id, { cursor, max_bytes: 1 << 20, wait_ms: 20_000 }, NEVER);
    if (!page) throw new Error('no such job');
    text += page.chunks.map((chunk) => chunk.text).join('');
    cursor = page.next_cursor;
    if (page.end) return { text, last: page };
  }
}

describe('a foreground run', () => {
  it('gives its result, and its output by cursor afterwards', async () => {
    const handle = await execution.start(place.spec('echo out; echo err >&2; exit 3'), NEVER);
    expect(handle.exec_id).toMatch(ENDED.exec);
    expect(await handle.done).toMatchObject({
      outcome: { state: 'exited', exit_code: 3 },
      output: { stdout: { head: 'out\n' }, stderr: { head: 'err\n' }, spooled_bytes: 8 },
      receipt: { exec_id: handle.exec_id, teardown: { verified: true, survivors: [] } },
    });
    const page = await execution.output(handle.exec_id, { cursor: 0, max_bytes: 100 });
    expect(page?.chunks.map((chunk) => chunk.text).join('').length).toBe(8);
    expect(page?.end).toBe(true);
    expect(await execution.ownerOf(handle.exec_id)).toEqual(OWNER);
    expect((await handle.view()).stdout.head).toBe('out\n');
    expect(handle.write(new Uint8Array([1]))).toBe(false);
    // It is put away when its end is recorded, and can be read there too.
    expect(readdirSync(join(place.home, 'runs')).sort()).toEqual(['ended', handle.exec_id]);
    await execution.confirm([handle.exec_id]);
    expect(readdirSync(join(place.home, 'runs'))).toEqual(['ended']);
    expect(await execution.output(handle.exec_id, { cursor: 0, max_bytes: 100 })).toEqual(page);
  });

  it('is enforced as the probe had said', async () => {
    const probe = await execution.probe();
    const { receipt } = await execution.run(place.spec('true'), NEVER);
    if (!probe.ok || !receipt) throw new Error('nothing to compare');
    expect(probe.report.dimensions).toEqual(receipt.containment.dimensions);
  });

  it('takes bytes on standard input', async () => {
    const stdin = new TextEncoder().encode('a\nb\n');
    expect(await execution.run(place.spec('wc -l', { stdin }), NEVER)).toMatchObject({ output: { stdout: { head: '2\n' } } });
  });

  it('is refused with the reason, and nothing is left of it', async () => {
    await expect(execution.start(place.spec('true', { cwd: '/etc' }), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(execution.start(place.spec('a\0b'), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(execution.start(place.spec('true', { timeout_ms: 0 }), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(execution.start(place.spec('true', { timeout_ms: Number.NaN }), NEVER)).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
    await expect(execution.jobs.start(place.spec('true', { cwd: '/etc' }), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(readdirSync(join(place.home, 'runs'))).toEqual(['ended']);
    expect(readdirSync(join(place.home, 'jobs'))).toEqual([]);
  });

  it('is cancelled by the signal of its caller, before, while it starts and while it runs', async () => {
    await expect(execution.run(place.spec('touch early'), AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
    const starting = new AbortController();
    const started = execution.run(place.spec('sleep 50.0701'), starting.signal);
    starting.abort();
    expect((await started).outcome).toMatchObject({ state: 'cancelled' });
    const running = new AbortController();
    const handle = await execution.start(place.spec('sleep 50.0702'), running.signal);
    running.abort();
    expect(await handle.done).toMatchObject({ outcome: { state: 'cancelled' }, receipt: { teardown: { verified: true } } });
    expect(place.lines('early')).toEqual([]);
    expect(processesWith('sleep 50.070')).toEqual([]);
  });

  it('is found by nothing but an id', async () => {
    for (const id of ['', '../jobs', 'exec_1', 'ended']) {
      expect(await execution.output(id, { cursor: 0, max_bytes: 10 })).toBeUndefined();
      expect(await execution.ownerOf(id)).toBeUndefined();
    }
  });

  it('is one of sixteen', async () => {
    const handles = await Promise.all(Array.from({ length: 16 }, () => execution.start(place.spec('sleep 50.0703'), NEVER)));
    await expect(execution.start(place.spec('true'), NEVER)).rejects.toMatchObject({ code: 'busy' });
    for (const handle of handles) handle.cancel('enough');
    for (const handle of handles) expect(await handle.done).toMatchObject({ outcome: { state: 'cancelled', reason: 'enough' } });
    expect(await execution.run(place.spec('true'), NEVER)).toMatchObject({ outcome: { exit_code: 0 } });
  });
});

describe('a run that becomes a job', () => {
  it('loses nothing of what it writes meanwhile', async () => {
    const handle = await execution.start(
      place.spec('seq 1 150000; echo ready > ready; until [ -e go ]; do sleep 0.02; done; seq 150001 300000'),
      NEVER,
    );
    await expect.poll(() => place.lines('ready'), { timeout: 20_000 }).toEqual(['ready']);
    const job = await handle.promote();
    expect(job).toMatchObject({ state: 'running', owner: OWNER });
    expect(await handle.done).toBeNull();
    expect(existsSync(join(place.home, 'runs', handle.exec_id))).toBe(false);
    await execution.run(place.spec('touch go'), NEVER);
    const { text, last } = await readAll(job.job_id);
    const expected = `${Array.from({ length: 300_000 }, (_, i) => i + 1).join('\n')}\n`;
    expect(createHash('sha256').update(text).digest('hex')).toBe(createHash('sha256').update(expected).digest('hex'));
    expect(last.dropped_bytes).toBe(0);
    const record = await execution.jobs.get(job.job_id);
    expect(record).toMatchObject({ state: 'exited', exit_code: 0, total_bytes: expected.length, receipt: { exec_id: handle.exec_id } });
    await expect(handle.promote()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('promoted while it floods, has every byte once', async () => {
    const handle = await execution.start(place.spec('seq 1 400000'), NEVER);
    const job = await handle.promote().catch(() => undefined);
    const result = await handle.done;
    expect(job === undefined).toBe(result !== null);
    if (!job) return;
    const { text } = await readAll(job.job_id);
    expect(text.split('\n')).toHaveLength(400_001);
    expect(text.endsWith('\n400000\n')).toBe(true);
  });

  it('is not one when it has ended before', async () => {
    const handle = await execution.start(place.spec('true'), NEVER);
    await handle.done;
    await expect(handle.promote()).rejects.toMatchObject({ code: 'not_found' });
    expect(await handle.done).toMatchObject({ outcome: { exit_code: 0 } });
  });
});

describe('a job', () => {
  it('is cancelled though it ignores TERM, twice at once and after its end', async () => {
    const job = await execution.jobs.start(place.spec("trap '' TERM; sleep 50.0704 & wait; wait; sleep 50.0704"), NEVER);
    const both = await Promise.all([execution.jobs.cancel(job.job_id, 'one'), execution.jobs.cancel(job.job_id, 'two')]);
    for (const record of [...both, await execution.jobs.cancel(job.job_id, 'three')]) {
      expect(record).toMatchObject({
        state: 'cancelled',
        reason: expect.stringContaining('one'),
        receipt: { teardown: { verified: true } },
      });
    }
    expect(processesWith('sleep 50.0704')).toEqual([]);
  });

  it('ends at its deadline', async () => {
    const job = await execution.jobs.start(place.spec('echo begun; sleep 50.0705', { timeout_ms: 300 }), NEVER);
    expect((await readAll(job.job_id)).text).toBe('begun\n');
    expect(await execution.jobs.get(job.job_id)).toMatchObject({ state: 'timed_out', exit_code: 124 });
  });

  it('keeps no secret of the host in the environment of its runner', async () => {
    const job = await execution.jobs.start(place.spec('sleep 50.0706'), NEVER);
    const owner: unknown = JSON.parse(readFileSync(join(place.home, 'jobs', job.job_id, 'owner.json'), 'utf8'));
    expect(owner).toMatchObject({ holder: { type: 'runner', process: { pid: expect.any(Number) } } });
    const { pid } = (owner as { holder: { process: { pid: number } } }).holder.process;
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((entry) => entry.split('=')[0]);
    expect(names.filter((name) => name !== '').sort()).toEqual([
      'HOME',
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      // Given by these tests.
      'NODE_COMPILE_CACHE',
      'PATH',
      'WRIT_HOME',
    ]);
    await execution.jobs.cancel(job.job_id, 'done');
  });
});
