import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packRows, unpackRows } from '../../src/audit/archive-file.ts';
import { type ArchiveBody, type ArchivedRange, parseArchive, signArchive } from '../../src/audit/archive-head.ts';
import { rowHash } from '../../src/audit/chain.ts';
import type { StoredRow } from '../../src/audit/chain-walk.ts';
import {
  archiveNow,
  auditWrites,
  exportAudit,
  listEvents,
  type Retention,
  showEvent,
  verifyAudit,
  verifyExport,
} from '../../src/audit/index.ts';
import { readKey } from '../../src/audit/key.ts';
import { AppError } from '../../src/kernel/errors.ts';
import { newId } from '../../src/kernel/ids.ts';
import { openConnection } from '../../src/store/connection.ts';
import { databaseFile } from '../../src/store/index.ts';
import { createGroupRunner } from '../../src/store/transaction.ts';
import { copyOf, event, openRecord, type Record_, raw } from './support.ts';

const DAY = 86_400_000;
const NOW = 1_790_000_000_000;
const clock = { now: () => NOW, monotonic: () => 0 };
const KEEP: Retention = { age: 90 * DAY, bytes: 2 ** 31 };
const NOTHING: Retention = { age: 0, bytes: 1 };

let record: Record_;

beforeEach(() => {
  record = openRecord();
});

afterEach(() => record.dispose());

const folder = (): string => join(record.home, 'audit', 'archive');
const files = (): string[] => readdirSync(folder()).toSorted();
const archiveAll = (retention: Retention): ReturnType<typeof archiveNow> =>
  archiveNow({ store: record.store, home: record.home, clock, retention });
const old = (i: number): ReturnType<typeof event> => event({ i }, { at: NOW - 100 * DAY + i });
const young = (i: number): ReturnType<typeof event> => event({ i }, { at: NOW - DAY + i });

/** A chain of rows at given ages, sealed. Its opening carries the clock's time. */
async function chainOf(events: readonly ReturnType<typeof event>[], at: number, seal = true): Promise<string> {
  const log = record.log({ clock: { ...clock, now: () => at } });
  let chain = '';
  for (const one of events) ({ chain } = await log.record(one));
  if (seal) await log.close();
  else await log.flush();
  return chain;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

async function seqs(chain: string): Promise<number[]> {
  const { events } = await listEvents(record.home, { limit: 1_000 });
  return events
    .filter(({ ref }) => ref.chain === chain)
    .map(({ ref }) => ref.seq)
    .toSorted((a, b) => a - b);
}

describe('what leaves the database', () => {
  it('is what is old and sealed, as long as everything before it is', async () => {
    const chain = await chainOf([old(1), old(2), young(3), old(4)], NOW - 100 * DAY);
    expect(await archiveAll(KEEP)).toEqual({ rows: 3, files: ['000000.jsonl.gz'], refused: [] });
    expect(await seqs(chain)).toEqual([3, 4]);
    expect(await verifyAudit(record.home)).toMatchObject({
      ok: true,
      rows: 5,
      sealed: 5,
      chains: 1,
      archives: { total: 1, rows: 3, checked: 1, moved_away: { total: 0 } },
    });
    expect(await archiveAll(KEEP)).toEqual({ rows: 0, files: [], refused: [] });
  });

  it('is never a row that no checkpoint covers', async () => {
    const sealed = await chainOf([old(1)], NOW - 100 * DAY);
    const open = await chainOf([old(1), old(2)], NOW - 100 * DAY, false);
    expect(await archiveAll(NOTHING)).toMatchObject({ rows: 2 });
    expect(await seqs(sealed)).toEqual([]);
    expect(await seqs(open)).toEqual([0, 1, 2]);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 5, sealed: 2, unsealed: 3, chains: 2 });
  });

  it('is not the unsealed rest of a chain either', async () => {
    const log = record.log({ clock });
    const { chain } = await log.record(old(1));
    await chainOf([old(2)], NOW);
    await log.record(old(3));
    expect(await archiveAll(NOTHING)).toMatchObject({ rows: 4 });
    expect(await seqs(chain)).toEqual([2]);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, unsealed: 1 });
  });

  it('is the oldest first when there is too much, down to the limit and no further', async () => {
    const first = await chainOf(numbers(50).map(old), NOW - 100 * DAY);
    const second = await chainOf(numbers(50).map(young), NOW - DAY);
    const keep = rowSize(second);
    expect(await archiveAll({ age: KEEP.age * 10, bytes: rowSize(first) + keep - 1 })).toMatchObject({ rows: 1 });
    expect(await archiveAll({ age: KEEP.age * 10, bytes: keep })).toMatchObject({ rows: 50 });
    expect(await seqs(first)).toEqual([]);
    expect(await seqs(second)).toHaveLength(51);
    expect(await archiveAll({ age: KEEP.age * 10, bytes: keep })).toMatchObject({ rows: 0 });
  });

  it('goes in bounded steps, one file each, whole chains or parts of them', async () => {
    const chain = await chainOf(numbers(2_500).map(old), NOW - 100 * DAY);
    expect(await archiveAll(KEEP)).toEqual({ rows: 2_501, files: files(), refused: [] });
    expect(files()).toEqual(['000000.jsonl.gz', '000001.jsonl.gz', '000002.jsonl.gz']);
    expect(await seqs(chain)).toEqual([]);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 2_501, chains: 1, archives: { checked: 3, rows: 2_501 } });
    const big = await chainOf(
      numbers(30).map((i) => event({ text: 'x'.repeat(60_000) }, { at: NOW - 100 * DAY + i })),
      NOW - 100 * DAY,
    );
    expect((await archiveAll(KEEP)).files).toHaveLength(2);
    expect(await seqs(big)).toEqual([]);
  });

  it('holds one Organization only', async () => {
    const a = await chainOf([old(1)], NOW - 100 * DAY);
    const b = await chainOf([event({}, { at: NOW - 100 * DAY, organization: 'other' })], NOW - 100 * DAY);
    expect((await archiveAll(KEEP)).files).toHaveLength(2);
    const held = files().map((file) => gunzipSync(readFileSync(join(folder(), file))).toString());
    expect(held.filter((text) => text.includes(a))).toHaveLength(1);
    expect(held.filter((text) => text.includes(a) && text.includes(b))).toEqual([]);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, chains: 2, rows: 4 });
  });

  it('is nothing of a chain whose rows are not what was recorded; the others go on', async () => {
    const bad = await chainOf(numbers(5).map(old), NOW - 101 * DAY);
    const good = await chainOf([old(1)], NOW - 100 * DAY);
    const db = raw(record.home);
    db.prepare("UPDATE audit_events SET bytes = json_set(bytes, '$.data.i', 99) WHERE chain = ? AND seq = 4").run(bad);
    db.close();
    expect(await archiveAll(KEEP)).toEqual({ rows: 2, files: ['000000.jsonl.gz'], refused: [bad] });
    expect(await seqs(bad)).toHaveLength(6);
    expect(await seqs(good)).toEqual([]);
    expect(await verifyAudit(record.home)).toMatchObject({
      ok: false,
      findings_total: 1,
      first: { kind: 'row_changed', chain: bad, seq: 4 },
    });
  });

  it('stays when the key is gone, and nothing is left in the folder', async () => {
    const chain = await chainOf([old(1)], NOW - 100 * DAY);
    rmSync(join(record.home, 'audit', 'key.pem'));
    await expect(archiveAll(KEEP)).rejects.toMatchObject({ code: 'store_unavailable', message: expect.stringMatching(/key .* is gone/) });
    expect(await seqs(chain)).toEqual([0, 1]);
    expect(() => files()).toThrow();
  });
});

function rowSize(chain: string): number {
  const db = raw(record.home);
  const size = Number(db.prepare('SELECT sum(octet_length(bytes)) AS n FROM audit_events WHERE chain = ?').get(chain)?.['n']);
  db.close();
  return size;
}

describe('a chain that is still written', () => {
  it('goes on where it stood when all of it was archived, and is sealed and archived again', async () => {
    const log = record.log({ clock });
    const other = record.log({ clock });
    const { chain } = await log.record(old(1));
    await other.record(old(2));
    // The other log's seal covers this chain too; then everything leaves, under the hands of the one that writes it.
    await other.close();
    expect(await archiveAll(NOTHING)).toMatchObject({ rows: 4 });
    expect(await seqs(chain)).toEqual([]);
    expect(await log.record(old(3))).toEqual({ chain, seq: 2 });
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 5, unsealed: 1, chains: 2 });
    await log.close();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, unsealed: 0 });
    expect(await archiveAll(NOTHING)).toMatchObject({ rows: 1 });
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 5, sealed: 5, archives: { total: 2, rows: 5 } });
  });

  it('is sealed without complaint when its last row was sealed and archived by others', async () => {
    const errors: string[] = [];
    const log = record.log({ clock, logger: { debug() {}, info() {}, warn() {}, error: (message) => errors.push(message) } });
    await log.record(old(1));
    await chainOf([old(2)], NOW);
    await archiveAll(NOTHING);
    await log.close();
    expect(errors).toEqual([]);
  });

  it('but not when the row that left is not the one it wrote', async () => {
    const errors: string[] = [];
    const log = record.log({ clock, logger: { debug() {}, info() {}, warn() {}, error: (message) => errors.push(message) } });
    const { chain } = await log.record(old(1));
    const db = raw(record.home);
    db.prepare('DELETE FROM audit_events WHERE chain = ?').run(chain);
    db.prepare('UPDATE audit_chains SET first_seq = 2, first_hash = randomblob(32), size = 0 WHERE chain = ?').run(chain);
    db.close();
    await log.close();
    expect(errors[0]).toMatch(/not what this process wrote/);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'chain_missing', chain } });
  });
});

describe('in the background', () => {
  const write = (retention: Retention, lines: unknown[] = []): ReturnType<Record_['log']> => {
    const note = (message: string, data?: unknown): number => lines.push([message, data]);
    return record.log({ clock, retention, logger: { debug() {}, info: note, warn: note, error: note } });
  };

  it('happens after a seal, once a day has gathered', async () => {
    await chainOf(
      numbers(3).map((i) => event({ i }, { at: NOW - 90 * DAY - 1_000 + i })),
      NOW - 90 * DAY - 1_000,
    );
    const early = write(KEEP);
    await early.record(young(1));
    await early.close();
    expect(() => files()).toThrow();
    await chainOf(
      numbers(3).map((i) => event({ i }, { at: NOW - 91 * DAY - 1_000 + i })),
      NOW - 91 * DAY - 1_000,
    );
    const lines: unknown[] = [];
    const late = write(KEEP, lines);
    await late.record(young(2));
    await late.close();
    expect(files()).toEqual(['000000.jsonl.gz']);
    expect(lines).toEqual([['old audit rows were archived', { file: '000000.jsonl.gz', rows: 8 }]]);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 12, archives: { rows: 8 } });
  });

  it('does not happen where nobody set how long rows stay', async () => {
    await chainOf([old(1)], NOW - 100 * DAY);
    const log = record.log({ clock });
    await log.record(young(1));
    await log.close();
    expect(() => files()).toThrow();
  });

  it('never keeps a row from being recorded: what goes wrong is said and tried again', async () => {
    await chainOf([old(1)], NOW - 100 * DAY);
    const lines: unknown[] = [];
    const broken: Record_['store']['write'] = (name, args, options) =>
      name === 'audit.archive' ? Promise.reject(new AppError('disk_full', 'full')) : record.store.write(name, args, options);
    const log = record.log({
      clock,
      retention: KEEP,
      store: { write: broken },
      logger: { debug() {}, info() {}, warn: (message) => lines.push(message), error() {} },
    });
    await log.record(young(1));
    await log.close();
    expect(lines).toEqual(['old audit rows could not be archived: full']);
    const next = write(KEEP);
    await next.record(young(2));
    await next.close();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, archives: { rows: 2 }, unsealed: 0 });
  });
});

describe('a step that was cut short', () => {
  const file = (name: string): string => join(folder(), name);

  /** The state that a kill between naming the file and the commit leaves: the file is there, the database as it was. */
  async function cutShort(): Promise<void> {
    await chainOf(numbers(20).map(old), NOW - 100 * DAY);
    await record.store.close();
    const before = ['writ.db', 'writ.db-wal', 'writ.db-shm'].filter((name) => statSync(join(record.home, name), { throwIfNoEntry: false }));
    for (const name of before) copyFileSync(join(record.home, name), join(record.home, `${name}.before`));
    reopen();
    await archiveAll(KEEP);
    await record.store.close();
    for (const name of ['writ.db', 'writ.db-wal', 'writ.db-shm']) rmSync(join(record.home, name), { force: true });
    for (const name of before) copyFileSync(join(record.home, `${name}.before`), join(record.home, name));
    reopen();
  }

  function reopen(): void {
    record = openRecord(record.home);
  }

  it('before the commit is undone by the next: nothing is doubled and nothing lost', async () => {
    await cutShort();
    expect(files()).toEqual(['000000.jsonl.gz']);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 21, archives: { total: 0 } });
    // More is due by now than the first time, so the same file would not do.
    await chainOf([old(9)], NOW - 100 * DAY);
    expect(await archiveAll(KEEP)).toEqual({ rows: 23, files: ['000000.jsonl.gz'], refused: [] });
    expect(files()).toEqual(['000000.jsonl.gz']);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 23, archives: { total: 1, checked: 1 } });
  });

  it('by a kill at any touch of the disk leaves a whole record, and is undone or done when the next one has run', {
    timeout: 120_000,
  }, async () => {
    await chainOf(numbers(20).map(old), NOW - 100 * DAY);
    await record.store.close();
    const step = fileURLToPath(new URL('./archive-step.ts', import.meta.url));
    const run = (home: string, at: number): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, [step, home, String(NOW), String(at)], { stdio: ['ignore', 'inherit', 'inherit'] });
    /** The next step, by a process that lives; in this one, because a thread for each would take its time. */
    const next = async (home: string): Promise<void> => {
      const connection = await openConnection(databaseFile(home), 'write');
      const args = { directory: join(home, 'audit'), now: NOW, retention: NOTHING, promptly: true };
      expect(createGroupRunner(connection, auditWrites, home)([{ name: 'audit.archive', args, level: 'full' }])).toMatchObject([
        { ok: true },
      ]);
      connection.close();
    };
    const seen: string[] = [];
    for (let at = 1; ; at++) {
      const home = copyOf(record.home);
      const { status, signal } = run(home, at);
      const { archives, ...report } = await verifyAudit(home);
      expect(report, `killed at ${at}`).toMatchObject({ ok: true, rows: 21, sealed: 21, findings: [] });
      const folder = join(home, 'audit', 'archive');
      const names = existsSync(folder) ? readdirSync(folder) : [];
      seen.push(`${names.map((name) => name.replace('000000.jsonl.gz', 'file'))} ${archives.total}`.trim());
      if (signal === null) {
        expect(status).toBe(0);
        rmSync(home, { recursive: true });
        break;
      }
      await next(home);
      expect(readdirSync(folder)).toEqual(['000000.jsonl.gz']);
      expect(await verifyAudit(home)).toMatchObject({ ok: true, rows: 21, archives: { total: 1, checked: 1, rows: 21 } });
      rmSync(home, { recursive: true });
    }
    // All the states there are, in their order: nothing, a piece, the file alone, the file and its head.
    expect([...new Set(seen)]).toEqual(['0', 'file.tmp 0', 'file 0', 'file 1']);
  });

  it('while writing leaves a piece that the next one clears away', async () => {
    await chainOf([old(1)], NOW - 100 * DAY);
    mkdirSync(folder());
    writeFileSync(file('000000.jsonl.gz.tmp'), 'half');
    await archiveAll(KEEP);
    expect(files()).toEqual(['000000.jsonl.gz']);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true });
  });

  it.each([
    ['no archive at all', 'precious'],
    ['rows that the database does not have', undefined],
  ])('is told from a file with %s, which is never touched', async (_name, text) => {
    await cutShort();
    // A database that came from an older backup: the rows of the archive are not in it.
    if (text === undefined) rowsGone();
    else writeFileSync(file('000000.jsonl.gz'), text);
    const before = readFileSync(file('000000.jsonl.gz'));
    const chain = await chainOf([old(1)], NOW - 100 * DAY);
    expect((await archiveAll(KEEP)).files).toEqual(['000001.jsonl.gz']);
    expect(readFileSync(file('000000.jsonl.gz')).equals(before)).toBe(true);
    expect(await seqs(chain)).toEqual([]);
  });

  function rowsGone(): void {
    const db = raw(record.home);
    db.exec('DELETE FROM audit_events; DELETE FROM audit_chains; DELETE FROM audit_checkpoints');
    db.close();
  }

  it('never takes a number again, though the files were moved away', async () => {
    for (const at of [1, 2]) {
      await chainOf([old(at)], NOW - 100 * DAY);
      await archiveAll(KEEP);
    }
    rmSync(folder(), { recursive: true });
    await chainOf([old(3)], NOW - 100 * DAY);
    expect((await archiveAll(KEEP)).files).toEqual(['000002.jsonl.gz']);
    expect(await verifyAudit(record.home)).toMatchObject({
      ok: true,
      archives: { total: 3, checked: 1, moved_away: { total: 2, rows: 4 } },
    });
  });
});

describe('the archive', () => {
  it('is for its owner alone, and may lie on another disk', async () => {
    const elsewhere = openRecord();
    mkdirSync(join(record.home, 'audit'));
    symlinkSync(elsewhere.home, folder());
    chmodSync(elsewhere.home, 0o700);
    await chainOf([old(1)], NOW - 100 * DAY);
    await archiveAll(KEEP);
    expect(statSync(join(elsewhere.home, '000000.jsonl.gz')).mode & 0o777).toBe(0o600);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, archives: { checked: 1 } });
    await elsewhere.dispose();
  });

  it('is named when it was moved away, and proves itself when it is back', async () => {
    const chain = await chainOf(numbers(3).map(old), NOW - 100 * DAY);
    await archiveAll(KEEP);
    const path = join(folder(), '000000.jsonl.gz');
    const packed = readFileSync(path);
    rmSync(path);
    const report = await verifyAudit(record.home);
    expect(report).toMatchObject({
      ok: true,
      rows: 4,
      archives: { checked: 0, moved_away: { total: 1, rows: 4, files: ['000000.jsonl.gz'] } },
    });
    expect(report.cannot_prove[0]).toBe(
      '1 archive was moved away or removed (000000.jsonl.gz): 4 rows were not looked at. Their signed heads are here and fit; put the files back into audit/archive to check what is in them.',
    );
    await expect(showEvent(record.home, `${chain}:2`)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/may be in an archive .* 000000\.jsonl\.gz/),
    });
    writeFileSync(path, packed);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, archives: { checked: 1 } });
    expect((await showEvent(record.home, `${chain}:2`)).events[0]).toMatchObject({ ref: { chain, seq: 2 }, data: { i: 2 } });
  });

  it('is told of by lists, and looked into for an action', async () => {
    const action = newId('act', NOW - 100 * DAY);
    const elsewhere = newId('act', NOW - 100 * DAY);
    await chainOf(
      [event({ i: 1 }, { at: NOW - 100 * DAY, action }), old(2), event({ i: 3 }, { at: NOW - 99 * DAY, action }), young(4)],
      NOW - 100 * DAY,
    );
    await archiveAll({ ...KEEP, age: 99.5 * DAY });
    const { events, archived } = await listEvents(record.home);
    expect(events.map(({ data }) => data['i'])).toEqual([4, 3]);
    expect(archived).toEqual({ archives: 1, rows: 3, newest_at: NOW - 100 * DAY + 2 });
    expect((await listEvents(record.home, { limit: 1 })).archived).toBeUndefined();
    expect((await listEvents(record.home, { filter: { since: NOW - 99 * DAY } })).archived).toBeUndefined();
    expect((await listEvents(record.home, { filter: { organization: 'other' } })).archived).toBeUndefined();
    expect((await showEvent(record.home, action)).events.map(({ data }) => data['i'])).toEqual([1, 3]);
    await expect(showEvent(record.home, elsewhere)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^Nothing/),
    });
    rmSync(folder(), { recursive: true });
    expect(await showEvent(record.home, action)).toMatchObject({ events: [{ data: { i: 3 } }], unread: ['000000.jsonl.gz'] });
  });

  it('goes into an export with its rows, and as a head where the file is not at hand', async () => {
    await chainOf(numbers(3).map(old), NOW - 100 * DAY);
    await archiveAll(KEEP);
    await chainOf([...numbers(3).map(old), young(1)], NOW - 100 * DAY);
    await archiveAll(KEEP);
    const whole = join(record.home, 'whole.jsonl');
    expect(await exportAudit(record.home, whole, { now: 5 })).toMatchObject({ rows: 9, archives: 2, archives_away: 0 });
    expect(await verifyExport(whole)).toMatchObject({ ok: true, rows: 9, sealed: 9, chains: 2, archives: { total: 2, checked: 2 } });
    rmSync(join(folder(), '000000.jsonl.gz'));
    const part = join(record.home, 'part.jsonl');
    expect(await exportAudit(record.home, part, { now: 5 })).toMatchObject({ rows: 5, archives: 1, archives_away: 1 });
    expect(await verifyExport(part)).toMatchObject({ ok: true, rows: 9, archives: { checked: 1, moved_away: { total: 1, rows: 4 } } });
    writeFileSync(join(folder(), '000001.jsonl.gz'), 'spoilt');
    const spoilt = join(record.home, 'spoilt.jsonl');
    await exportAudit(record.home, spoilt, { now: 5 });
    expect(await verifyExport(spoilt)).toMatchObject({ ok: false, first: { kind: 'row_missing', seq: 0 } });
  });

  it('in an export shows any dropped, doubled or swapped line', async () => {
    await chainOf(numbers(3).map(old), NOW - 100 * DAY);
    await archiveAll(KEEP);
    await chainOf([old(1), young(1)], NOW - 100 * DAY);
    await archiveAll(KEEP);
    const out = join(record.home, 'out.jsonl');
    await exportAudit(record.home, out, { now: 5 });
    const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1);
    const ok = async (changed: readonly string[]): Promise<boolean> => {
      writeFileSync(out, changed.map((line) => `${line}\n`).join(''));
      return (await verifyExport(out)).ok;
    };
    expect(await ok(lines)).toBe(true);
    for (let a = 1; a < lines.length; a++) {
      expect(await ok(lines.toSpliced(a, 1)), `line ${a} dropped`).toBe(false);
      expect(await ok(lines.toSpliced(a, 0, lines[a] ?? '')), `line ${a} doubled`).toBe(false);
      if (a > 1) expect(await ok(lines.with(a, lines[a - 1] ?? '').with(a - 1, lines[a] ?? '')), `line ${a} swapped`).toBe(false);
    }
  });
});

/** Whoever has the key can sign anything; what the checkpoints signed before still stands against it. */
describe('an archive that is signed over something else', () => {
  let chain = '';

  beforeEach(async () => {
    chain = await chainOf(numbers(6).map(old), NOW - 100 * DAY);
    await archiveAll(KEEP);
    await chainOf([young(1)], NOW);
  });

  function resign(
    change: (rows: StoredRow[], body: ArchiveBody) => { readonly rows?: StoredRow[]; readonly body?: Partial<ArchiveBody> },
  ): void {
    const directory = join(record.home, 'audit');
    const path = join(folder(), '000000.jsonl.gz');
    const key = readKey(directory);
    const db = raw(record.home);
    const head = parseArchive(String(db.prepare('SELECT line FROM audit_archives').get()?.['line']));
    if (key === undefined || head === undefined) throw new Error('nothing to sign');
    const { rows, body } = change(unpackRows(readFileSync(path)) ?? [], head.body);
    if (rows !== undefined) writeFileSync(path, packRows(rows));
    const packed = readFileSync(path);
    const signed = { ...head.body, bytes: packed.length, sha256: hash('sha256', packed, 'hex'), ...body };
    db.prepare('UPDATE audit_archives SET line = ?').run(signArchive(signed, key).line);
    db.close();
  }

  const range = (body: ArchiveBody, change: Partial<ArchivedRange>): Partial<ArchiveBody> => {
    const was = body.chains[chain];
    return was === undefined ? {} : { chains: { [chain]: { ...was, ...change } } };
  };
  const first = async (): Promise<unknown> => {
    const { ok, first } = await verifyAudit(record.home);
    return ok ? 'nothing' : `${first?.kind} ${first?.chain === chain ? first.seq : first?.archive}`;
  };

  it('is none when nothing was changed', async () => {
    resign(() => ({}));
    expect(await first()).toBe('nothing');
  });

  it.each<[string, (rows: StoredRow[]) => StoredRow[], string]>([
    [
      'a changed row',
      (rows) => rows.map((row) => (row.seq === 3 ? { ...row, bytes: row.bytes.replace('"i":3', '"i":9') } : row)),
      'row_changed 3',
    ],
    ['a row left out', (rows) => rows.filter(({ seq }) => seq !== 3), 'row_missing 3'],
    ['its last row left out', (rows) => rows.slice(0, -1), 'row_missing 6'],
    ['all rows left out', () => [], 'row_missing 0'],
    ['a row twice', (rows) => rows.flatMap((row) => (row.seq === 3 ? [row, row] : [row])), 'row_doubled 3'],
    ['a row too many', (rows) => rows.concat(rows.slice(-1).map((row) => ({ ...row, seq: 7 }))), 'row_changed 7'],
    ['another last row', (rows) => rows.map((row) => (row.seq === 6 ? { ...row, hash: rowHash(row.hash, 'x') } : row)), 'row_changed 6'],
  ])('is found by %s', async (_name, rows, finding) => {
    resign((held) => ({ rows: rows(held) }));
    expect(await first()).toBe(finding);
  });

  it.each<[string, (body: ArchiveBody) => Partial<ArchiveBody>, string]>([
    ['another count', ({ rows }) => ({ rows: rows + 1 }), 'archive_changed 0'],
    ['a later beginning', (body) => range(body, { first: 1 }), 'row_missing 0'],
    ['another hash before', (body) => range(body, { before: 'ab'.repeat(32) }), 'row_changed 0'],
    ['another hash after', (body) => range(body, { after: 'ab'.repeat(32) }), 'row_changed 6'],
    ['rows that no checkpoint covers', (body) => ({ ...range(body, { last: 7 }), rows: 8 }), 'row_missing 7'],
    ['another Organization', () => ({ organization: 'other' }), 'archive_changed 0'],
    ['another number', () => ({ seq: 1 }), 'archive_changed 0'],
    ['another head before it', () => ({ prev: 'ab'.repeat(32) }), 'archive_changed 0'],
  ])('is found by %s', async (_name, change, finding) => {
    resign((_rows, body) => ({ body: change(body) }));
    expect(await first()).toBe(finding);
    // What the heads say against the checkpoints and each other needs no file.
    rmSync(folder(), { recursive: true });
    expect(await first()).not.toBe('nothing');
  });
});
