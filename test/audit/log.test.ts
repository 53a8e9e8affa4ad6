import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listEvents, showEvent, verifyAudit } from '../../src/audit/index.ts';
import type { AuditWrites } from '../../src/audit/writes.ts';
import { AppError } from '../../src/kernel/errors.ts';
import { createStore, databaseFile } from '../../src/store/index.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';
import { event, openRecord, type Record_, raw } from './support.ts';

let record: Record_;

beforeEach(() => {
  record = openRecord();
});

afterEach(() => record.dispose());

async function types(): Promise<string[]> {
  return (await listEvents(record.home, { filter: { type: 'action' } })).events
    .map(({ type, data }) => `${type} ${data['i'] ?? ''}`.trim())
    .toReversed();
}

const essential = { level: 'full', essential: true } as const;

describe('recording', () => {
  it('opens a chain that names the process, and keeps the order of record and enqueue', async () => {
    const log = record.log({ writer: { boot_id: 'b', pid: 7, start_time: 9 } });
    expect(await log.record(event({ i: 1 }))).toMatchObject({ seq: 1 });
    log.enqueue(event({ i: 2 }, { type: 'action.finished' }));
    const { chain, seq } = await log.record(event({ i: 3 }), { level: 'full' });
    expect(seq).toBe(3);
    const opening = (await showEvent(record.home, `${chain}:0`)).events[0];
    expect(opening).toMatchObject({
      type: 'chain.opened',
      data: { chain, writer: { boot_id: 'b', pid: 7, start_time: 9 }, after_checkpoint: null },
    });
    expect((await showEvent(record.home, `${chain}:2`)).events[0]).toMatchObject(event({ i: 2 }, { type: 'action.finished' }));
    await log.close();
  });

  it('takes the event as it was at the call', async () => {
    const log = record.log();
    const data = { i: 'before' };
    const written = log.record(event(data));
    data.i = 'after';
    await written;
    expect(await types()).toContain('action.decided before');
    await log.close();
  });

  it('has enqueued events stored once flush resolves', async () => {
    const log = record.log();
    for (let i = 0; i < 500; i++) log.enqueue(event({ i }));
    await log.flush();
    expect((await verifyAudit(record.home)).rows).toBe(501);
    await log.close();
  });

  it('keeps the place of an event that is too big, and says what is left out', async () => {
    const log = record.log();
    const { chain, seq } = await log.record(event({ text: 'x'.repeat(200_000) }));
    const [stored] = (await showEvent(record.home, `${chain}:${seq}`)).events;
    expect(stored?.data).toEqual({ omitted: { bytes: 200_011, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    await log.close();
  });

  it('rejects a record that JSON cannot hold, but never an outcome', async () => {
    const log = record.log();
    await expect(log.record(event({ n: Number.NaN }))).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/\$\.data\.n is NaN/),
    });
    log.enqueue(event({ n: 1n }, { action: 'act_0123456789abcdefghjkmn' }));
    await log.flush();
    const [stored] = (await showEvent(record.home, 'act_0123456789abcdefghjkmn')).events;
    expect(stored?.data).toEqual({ unrecordable: expect.stringMatching(/\$\.data\.n is of type bigint/) });
    await log.close();
  });

  it('tries outcomes again that the store refused, and says so as long as it fails', async () => {
    let broken = true;
    const stored: number[] = [];
    const write: typeof record.store.write = (name, args, options) =>
      broken ? Promise.reject(new AppError('disk_full', 'full')) : record.store.write(name, args, options);
    const log = record.log({ store: { write } });
    log.enqueue(event({ i: 1 }), () => stored.push(1));
    log.enqueue(event({ i: 2 }), () => stored.push(2));
    await expect(log.flush()).rejects.toMatchObject({ code: 'disk_full' });
    expect(stored).toEqual([]);
    await expect(log.record(event({ i: 3 }))).rejects.toMatchObject({ code: 'disk_full' });
    broken = false;
    await log.flush();
    expect(await types()).toEqual(['action.decided 1', 'action.decided 2']);
    expect(stored).toEqual([1, 2]);
    await log.close();
  });

  it('names the events that are lost when a process ends while nothing can be stored', async () => {
    const lines: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string, data?: unknown) => lines.push([message, data]) };
    const log = record.log({ store: { write: () => Promise.reject(new AppError('disk_full', 'full')) }, logger });
    log.enqueue(event({ i: 1 }));
    await expect(log.close()).rejects.toMatchObject({ code: 'disk_full' });
    expect(lines).toEqual([
      [expect.stringMatching(/lost/), expect.objectContaining({ lost: 1, events: [expect.stringContaining('"i":1')] })],
    ]);
  });

  it('refuses to go on when its chain is taken out of the database', async () => {
    const log = record.log();
    await log.record(event());
    const db = raw(record.home);
    db.exec('DELETE FROM audit_events; DELETE FROM audit_chains');
    db.close();
    await expect(log.record(event())).rejects.toMatchObject({ code: 'store_unavailable', message: expect.stringMatching(/gone/) });
    await log.close();
  });
});

describe('sealing', () => {
  it('happens every so many rows and at close, in the database and in the file, with a key of the owner alone', async () => {
    const log = record.log({ seal: { rows: 10, after: 60_000 } });
    for (let i = 0; i < 25; i++) await log.record(event({ i }));
    await log.close();
    const report = await verifyAudit(record.home);
    expect(report).toMatchObject({ ok: true, rows: 26, sealed: 26, unsealed: 0, chains: 1, checkpoints: 3 });
    const lines = readFileSync(join(record.home, 'audit', 'checkpoints.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([0, 1, 2]);
    expect(statSync(join(record.home, 'audit', 'key.pem')).mode & 0o777).toBe(0o600);
    expect(report.key?.fingerprint).toBe(JSON.parse(lines[0] ?? '').key);
  });

  it('reports rows after the last checkpoint as unsealed, and the next writer seals them', async () => {
    const first = record.log();
    await first.record(event());
    await first.close();
    const killed = record.log();
    await killed.record(event());
    expect(await verifyAudit(record.home)).toMatchObject({
      ok: true,
      sealed: 2,
      unsealed: 2,
      cannot_prove: expect.arrayContaining([expect.stringMatching(/^2 rows come after the last checkpoint/)]),
    });
    const next = record.log();
    await next.record(event());
    await next.close();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, sealed: 6, unsealed: 0, chains: 3, checkpoints: 2 });
  });

  it('vouches for no row that is not the one this process wrote', async () => {
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => errors.push(message) };
    const log = record.log({ logger });
    const { chain, seq } = await log.record(event({ i: 1 }));
    const db = raw(record.home);
    db.prepare('UPDATE audit_events SET hash = zeroblob(32) WHERE chain = ? AND seq = ?').run(chain, seq);
    db.close();
    await log.close();
    expect(errors[0]).toMatch(/not what this process wrote/);
    expect(await verifyAudit(record.home)).toMatchObject({ checkpoints: 0, first: { kind: 'row_changed', chain, seq } });
  });

  it('finds a chain that was rewritten with right hashes after it was sealed', async () => {
    const log = record.log();
    const { chain } = await log.record(event({ i: 1 }));
    await log.record(event({ i: 2 }));
    await log.close();
    const forged = openRecord();
    // The forger has the same database and no key: a new chain under the old name, hashed as it should be.
    const { append } = await import('../../src/audit/append.ts');
    const { openConnection } = await import('../../src/store/connection.ts');
    const connection = await openConnection(databaseFile(record.home), 'write');
    connection.exec(`DELETE FROM audit_events WHERE chain = '${chain}'; DELETE FROM audit_chains WHERE chain = '${chain}'`);
    for (const i of [1, 99]) {
      append(connection, {
        chain,
        organization: 'org',
        bytes: `{"at":1,"data":{"i":${i}},"organization":"org","type":"x.y"}`,
        opening: { at: 1, writer: {} },
      });
    }
    connection.exec('UPDATE audit_chains SET sealed_seq = head_seq');
    connection.close();
    await forged.dispose();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'row_changed', chain, seq: 2 } });
  });

  it('finds a checkpoint that was forged in the database and in the file alike', async () => {
    const log = record.log();
    await log.record(event());
    await log.close();
    const path = join(record.home, 'audit', 'checkpoints.jsonl');
    const forged = readFileSync(path, 'utf8')
      .trimEnd()
      .replace(/"at":\d+/, '"at":7');
    writeFileSync(path, `${forged}\n`);
    const db = raw(record.home);
    db.prepare('UPDATE audit_checkpoints SET line = ?').run(forged);
    db.close();
    const first = { kind: 'checkpoint_changed', message: expect.stringMatching(/signature/) };
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, findings_total: 1, first });
  });

  it('finds the last checkpoint gone from both places when a later chain has seen it', async () => {
    for (const i of [1, 2]) {
      const log = record.log();
      await log.record(event({ i }));
      await log.close();
    }
    const killed = record.log();
    const { chain } = await killed.record(event({ i: 3 }));
    const path = join(record.home, 'audit', 'checkpoints.jsonl');
    writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0]}\n`);
    const db = raw(record.home);
    db.exec(
      'DELETE FROM audit_checkpoints WHERE seq = 1; UPDATE audit_chains SET sealed_seq = -1 WHERE chain != (SELECT min(chain) FROM audit_chains)',
    );
    db.close();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'checkpoint_missing', chain, seq: 0 } });
  });

  it('finds the last checkpoint gone from the database, marks and all, because the file still has it', async () => {
    const log = record.log();
    await log.record(event());
    await log.close();
    const db = raw(record.home);
    db.exec('DELETE FROM audit_checkpoints; UPDATE audit_chains SET sealed_seq = -1');
    db.close();
    expect(await verifyAudit(record.home)).toMatchObject({
      ok: false,
      findings_total: 1,
      first: { kind: 'checkpoint_missing', checkpoint: 0 },
    });
  });

  it('never makes a second key beside checkpoints of the first', async () => {
    const log = record.log();
    await log.record(event());
    await log.close();
    rmSync(join(record.home, 'audit', 'key.pem'));
    const errors: string[] = [];
    const next = record.log({ logger: { debug() {}, info() {}, warn() {}, error: (message) => errors.push(message) } });
    await next.record(event());
    await next.close();
    expect(errors[0]).toMatch(/signing key .* is gone/);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'key_missing' }, rows: 4, unsealed: 2 });
  });

  it('says when the key is not the expected one', async () => {
    const log = record.log();
    await log.record(event());
    await log.close();
    const fingerprint = (await verifyAudit(record.home)).key?.fingerprint ?? '';
    expect(await verifyAudit(record.home, { fingerprint })).toMatchObject({ ok: true });
    expect(await verifyAudit(record.home, { fingerprint: 'f'.repeat(64) })).toMatchObject({ ok: false, first: { kind: 'foreign_key' } });
  });
});

describe('a crash while sealing is no damage', () => {
  const checkpoints = (): string => join(record.home, 'audit', 'checkpoints.jsonl');

  /** Seals as a log does, and stops after the first of the two steps. */
  async function sealOnly(): Promise<string> {
    const log = record.log();
    const { chain, seq } = await log.record(event());
    const [row] = (await showEvent(record.home, `${chain}:${seq}`)).events;
    const remembered = { chain, seq, hash: row?.hash ?? '' };
    const args = { organization: 'org', directory: join(record.home, 'audit'), at: 1, remembered };
    expect(await record.store.write('audit.seal', args, essential)).toEqual({ checkpoint: 0, chains: 1 });
    const db = raw(record.home);
    const line = String(db.prepare('SELECT line FROM audit_checkpoints').get()?.['line']);
    db.close();
    return line;
  }

  const file = (): Promise<number> => record.store.write('audit.file', { directory: join(record.home, 'audit') }, essential);

  it('before the line is written', async () => {
    const line = await sealOnly();
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, checkpoints: 1, unsealed: 0 });
    expect(await file()).toBe(1);
    expect(readFileSync(checkpoints(), 'utf8')).toBe(`${line}\n`);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true });
  });

  it('with half of the line written', async () => {
    const line = await sealOnly();
    writeFileSync(checkpoints(), line.slice(0, 100));
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true });
    await file();
    expect(readFileSync(checkpoints(), 'utf8')).toBe(`${line}\n`);
  });

  it('with the line written and not yet noted', async () => {
    const line = await sealOnly();
    writeFileSync(checkpoints(), `${line}\n`);
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true });
    expect(await file()).toBe(1);
    expect(await file()).toBe(0);
    expect(readFileSync(checkpoints(), 'utf8')).toBe(`${line}\n`);
  });

  it('but a foreign end of the file is, and does not swallow the next line', async () => {
    const line = await sealOnly();
    appendFileSync(checkpoints(), 'rubbish');
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'file_damaged' } });
    await file();
    expect(readFileSync(checkpoints(), 'utf8')).toBe(`rubbish\n${line}\n`);
    expect(await verifyAudit(record.home)).toMatchObject({ findings_total: 1, first: { kind: 'file_damaged' } });
  });
});

describe('a home that cannot be checked', () => {
  it('has nothing wrong when nothing was recorded', async () => {
    expect(await verifyAudit(record.home)).toMatchObject({ ok: true, rows: 0, chains: 0, checkpoints: 0 });
    expect(await listEvents(record.home)).toEqual({ events: [] });
  });

  it('has lost its database when checkpoints are left', async () => {
    const log = record.log();
    await log.record(event());
    await log.close();
    await record.store.close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${databaseFile(record.home)}${end}`, { force: true });
    expect(await verifyAudit(record.home)).toMatchObject({ ok: false, first: { kind: 'database_missing' } });
  });

  it('says that a database is of a newer Writ', async () => {
    const store = createStore<AuditWrites>({ file: databaseFile(record.home), entry: WRITER_THREAD, reserve: 0 });
    const log = record.log({ store });
    await log.record(event());
    await log.close();
    await store.close();
    const db = raw(record.home);
    db.exec('PRAGMA user_version = 999');
    db.close();
    await expect(verifyAudit(record.home)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/newer Writ/),
    });
  });
});
