import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { JOB_STATES } from '../types.ts';
import { type Kept, planRemovals } from './retention.ts';
import { RETENTION } from './states.ts';

const DAY = 24 * 3_600_000;
const NOW = 1_700_000_000_000;
const LIMITS = { retention_ms: 7 * DAY, quota_bytes: 1_000, max_jobs: 10 };

function job(more: Partial<Kept>): Kept {
  return { job_id: newId<'job'>('job'), state: 'exited', bytes: 10, ended_at: NOW - DAY, delivered_at: undefined, ...more };
}

const jobs = fc.array(
  fc.record({
    state: fc.constantFrom(...JOB_STATES),
    bytes: fc.integer({ min: 0, max: 600 }),
    ended_at: fc.integer({ min: NOW - 30 * DAY, max: NOW }),
    delivered_at: fc.option(fc.integer({ min: NOW - 30 * DAY, max: NOW }), { nil: undefined }),
  }),
  { maxLength: 25 },
);

describe('retention', () => {
  it('takes what was delivered 7 days ago and nothing younger or undelivered', () => {
    const old = job({ delivered_at: NOW - 7 * DAY });
    const young = job({ delivered_at: NOW - 7 * DAY + 1 });
    const untold = job({ ended_at: NOW - 100 * DAY });
    expect(planRemovals([old, young, untold], LIMITS, NOW)).toEqual([{ job_id: old.job_id, reason: 'retention' }]);
  });

  it('over the quota, takes the oldest delivered, then the oldest ended', () => {
    const a = job({ bytes: 400, delivered_at: NOW - 2 * DAY, ended_at: NOW });
    const b = job({ bytes: 400, delivered_at: NOW - 3 * DAY, ended_at: NOW });
    const c = job({ bytes: 400, ended_at: NOW - 20 * DAY });
    const d = job({ bytes: 400, ended_at: NOW - 10 * DAY });
    const order = planRemovals([d, c, b, a], { ...LIMITS, quota_bytes: 0 }, NOW).map((removal) => removal.job_id);
    expect(order).toEqual([b.job_id, a.job_id, c.job_id, d.job_id]);
    expect(planRemovals([d, c, b, a], LIMITS, NOW).map((removal) => removal.job_id)).toEqual([b.job_id, a.job_id]);
  });

  it('never takes one that goes on or can not be read, takes no more than it must, and gets under the quota where it can', () => {
    fc.assert(
      fc.property(jobs, (rows) => {
        const all = rows.map((row) => job(row));
        const removals = planRemovals(all, LIMITS, NOW);
        const gone = new Set(removals.map((removal) => removal.job_id));
        const left = all.filter((one) => !gone.has(one.job_id));
        expect(gone.size).toBe(removals.length);
        for (const one of all) if (RETENTION[one.state] === 'never') expect(gone.has(one.job_id)).toBe(false);
        const over = (kept: readonly Kept[]): boolean =>
          kept.length > LIMITS.max_jobs || kept.reduce((sum, one) => sum + one.bytes, 0) > LIMITS.quota_bytes;
        if (over(left)) expect(left.every((one) => RETENTION[one.state] === 'never')).toBe(true);
        const last = removals.findLast((removal) => removal.reason === 'quota');
        if (last) expect(over([...left, ...all.filter((one) => one.job_id === last.job_id)])).toBe(true);
      }),
    );
  });
});
