import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportAudit, listEvents, type RecordedEvent, showEvent, verifyExport } from '../../src/audit/index.ts';
import { event, openRecord, raw, temporaryHome } from './support.ts';

let home = '';
const action = 'act_0123456789abcdefghjkmn';

beforeAll(async () => {
  const record = openRecord();
  home = record.home;
  const logs = [record.log(), record.log()];
  for (let i = 0; i < 40; i++) {
    const log = logs[i % 2];
    const more = i % 10 === 0 ? { action, tool: 'shell' } : { tool: 'job_list' };
    // Equal times on purpose: a page must not end between them and lose one.
    await log?.record(
      event(
        { i, text: 'ü€\u{1f600}\ud800' },
        { at: 1_000 + Math.floor(i / 4), type: i % 5 === 0 ? 'action.finished' : 'action.decided', ...more },
      ),
    );
  }
  for (const log of logs) await log.close();
  await record.store.close();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

const numbers = (events: readonly RecordedEvent[]): unknown[] => events.flatMap(({ data }) => ('i' in data ? [data['i']] : []));

describe('listing', () => {
  it.each([1, 7, 40, 1_000])('gives every event once, newest first, in pages of %d', async (limit) => {
    const seen: RecordedEvent[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await listEvents(home, { limit, filter: { until: 2_000 }, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.events.length).toBeLessThanOrEqual(limit);
      seen.push(...page.events);
      cursor = page.next_cursor;
      if (cursor === undefined) break;
    }
    expect(numbers(seen).toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).toSorted((a, b) => b - a));
  });

  it('filters by who, what and when', async () => {
    const by = async (filter: object): Promise<number> => (await listEvents(home, { filter, limit: 1_000 })).events.length;
    expect(await by({ type: 'action.finished' })).toBe(8);
    expect(await by({ type: 'action' })).toBe(40);
    expect(await by({ type: 'act' })).toBe(0);
    expect(await by({ type: "x' OR 1=1 --" })).toBe(0);
    expect(await by({ tool: 'shell' })).toBe(4);
    expect(await by({ action })).toBe(4);
    expect(await by({ organization: 'nobody' })).toBe(0);
    expect(await by({ since: 1_002, until: 1_004 })).toBe(8);
    expect(await by({ since: 1_002, until: 1_004, tool: 'shell' })).toBe(1);
  });

  it.each([{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { cursor: 'x' }, { cursor: '1.chn_x.2; DROP' }])(
    'refuses %j',
    async (options) => {
      await expect(listEvents(home, options)).rejects.toMatchObject({ code: 'invalid_arguments' });
    },
  );

  it('shows an event by reference and an action by its id', async () => {
    const [newest] = (await listEvents(home, { limit: 1 })).events;
    expect(await showEvent(home, `${newest?.ref.chain}:${newest?.ref.seq}`)).toEqual({ events: [newest], unread: [] });
    expect(numbers((await showEvent(home, action)).events)).toEqual([0, 10, 20, 30]);
    await expect(showEvent(home, `${newest?.ref.chain}:999`)).rejects.toMatchObject({ code: 'not_found' });
    await expect(showEvent(home, '../etc')).rejects.toMatchObject({ code: 'invalid_arguments' });
  });
});

describe('export', () => {
  const folder = temporaryHome();
  const out = join(folder, 'record.jsonl');

  beforeAll(async () => {
    expect(await exportAudit(home, out, { now: 5 })).toMatchObject({ rows: 42, checkpoints: 1 });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is checked without the home, belongs to its owner alone and is never overwritten', async () => {
    const report = await verifyExport(out);
    expect(report).toMatchObject({ ok: true, rows: 42, chains: 2, checkpoints: 1, sealed: 42, unsealed: 0 });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    await expect(exportAudit(home, out, { now: 5 })).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(await verifyExport(out, { fingerprint: 'f'.repeat(64) })).toMatchObject({ ok: false, first: { kind: 'foreign_key' } });
  });

  it('shows any changed bit, dropped, doubled or swapped line, and any cut', async () => {
    const spoilt = join(folder, 'spoilt.jsonl');
    const whole = readFileSync(out);
    const lines = whole.toString('utf8').split('\n').slice(0, -1);
    const found = async (bytes: Buffer | string): Promise<boolean> => {
      writeFileSync(spoilt, bytes);
      try {
        return !(await verifyExport(spoilt)).ok;
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'invalid_arguments' });
        return true;
      }
    };
    const text = (changed: string[]): string => changed.map((line) => `${line}\n`).join('');
    const index = fc.nat(lines.length - 1);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        expect(await found(bytes)).toBe(true);
        expect(await found(whole.subarray(0, at))).toBe(true);
      }),
      { numRuns: 60 },
    );
    await fc.assert(
      fc.asyncProperty(index, index, async (a, b) => {
        expect(await found(text(lines.toSpliced(a, 1)))).toBe(true);
        expect(await found(text(lines.toSpliced(b, 0, lines[a] ?? '')))).toBe(true);
        if (a !== b) expect(await found(text(lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '')))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('carries a spoilt record as it is', async () => {
    const copy = temporaryHome();
    rmSync(copy, { recursive: true });
    const { cpSync } = await import('node:fs');
    cpSync(home, copy, { recursive: true });
    const db = raw(copy);
    db.exec('DELETE FROM audit_events WHERE seq = 9');
    db.close();
    const spoilt = join(folder, 'carried.jsonl');
    await exportAudit(copy, spoilt, { now: 5 });
    expect(await verifyExport(spoilt)).toMatchObject({ ok: false, first: { kind: 'row_missing', seq: 9 }, findings_total: 2 });
    rmSync(copy, { recursive: true, force: true });
  });

  it.each(['', 'no json', '{"type":"header"}\n', '{"a":1}\n'])('says that %j is no export', async (content) => {
    const other = join(folder, 'other.jsonl');
    writeFileSync(other, content);
    await expect(verifyExport(other)).rejects.toMatchObject({ code: 'invalid_arguments', message: expect.stringMatching(/not an export/) });
  });
});
