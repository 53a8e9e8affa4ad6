import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { createStore, databaseFile, openReader, type Store } from '../../src/store/index.ts';
import { type TestWrites, testWrites } from './writer-thread.ts';

const entry = new URL('./writer-thread.ts', import.meta.url);
const normal = { level: 'normal' } as const;
const folders: string[] = [];
const stores: Store<TestWrites>[] = [];

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'writ-store-'));
  folders.push(home);
  return home;
}

function open(home: string): Store<TestWrites> {
  const store = createStore<TestWrites>({ file: databaseFile(home), entry, reserve: 0 });
  stores.push(store);
  return store;
}

async function stored(home: string): Promise<number[]> {
  const reader = await openReader(databaseFile(home));
  const rows = reader.all('SELECT seq FROM audit_checkpoints ORDER BY rowid', []) as { seq: number }[];
  reader.close();
  return rows.map(({ seq }) => seq);
}

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('writing', () => {
  it('commits in the order of the calls and answers each call with its own result', async () => {
    const home = temporaryHome();
    const store = open(home);
    const numbers = Array.from({ length: 1_000 }, (_, seq) => seq);
    const results = await Promise.all(
      numbers.map((seq) => store.write('test.put', { seq }, { level: seq % 97 === 0 ? 'full' : 'normal' })),
    );
    expect(results).toEqual(numbers);
    expect(await stored(home)).toEqual(numbers);
  });

  it('lets lazy writes wait for one that somebody waits for, in order, or a moment for nobody', async () => {
    const home = temporaryHome();
    const patient = createStore<TestWrites>({ file: databaseFile(home), entry, reserve: 0, lazy_ms: 60_000 });
    await patient.write('test.put', { seq: 0 }, normal);
    // What is committed in one group is answered in one turn of the event loop.
    let turn = 0;
    const count = (): void => {
      turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const turns: number[] = [];
    const note = (): void => void turns.push(turn);
    const lazy = [1, 2].map((seq) => patient.write('test.put', { seq }, { ...normal, lazy: true }).then(note));
    await new Promise((next) => setImmediate(next));
    await Promise.all([...lazy, patient.write('test.put', { seq: 3 }, normal).then(note)]);
    clearImmediate(counting);
    expect(turns).toEqual([turns[0], turns[0], turns[0]]);
    const atClose = patient.write('test.put', { seq: 4 }, { ...normal, lazy: true });
    await patient.close();
    expect(await atClose).toBe(4);
    expect(await open(home).write('test.put', { seq: 5 }, { ...normal, lazy: true })).toBe(5);
    expect(await stored(home)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('undoes a write that throws, and only that one, in a group', async () => {
    const home = temporaryHome();
    const store = open(home);
    const results = await Promise.allSettled([
      store.write('test.put', { seq: 1 }, normal),
      store.write('test.put_then_fail', { seq: 2 }, normal),
      store.write('test.put', { seq: 1 }, normal),
      store.write('test.put', { seq: 3 }, normal),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'not_found', message: 'no 2', fix: 'none', data: { seq: 2 } } });
    expect(results[2]).toMatchObject({ reason: { code: 'internal' } });
    expect(await stored(home)).toEqual([1, 3]);
  });

  it('refuses arguments that are not plain data and goes on with the others', async () => {
    const home = temporaryHome();
    const store = open(home);
    const results = await Promise.allSettled([
      store.write('test.put', { seq: 1 }, normal),
      store.write('test.put', { seq: 2, line: (() => 1) as unknown as string }, normal),
      store.write('test.put', { seq: 3 }, normal),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored(home)).toEqual([1, 3]);
  });

  it('refuses what is over the bound of the queue, except essential writes, and loses nothing that it took', async () => {
    const home = temporaryHome();
    const store = open(home);
    const asked = Array.from({ length: 9_000 }, (_, seq) =>
      store.write('test.put', { seq }, { level: 'normal', essential: seq === 8_999 }),
    );
    const results = await Promise.allSettled(asked);
    const refused = results.flatMap((result, seq) => (result.status === 'rejected' ? [{ seq, code: result.reason.code }] : []));
    expect(refused[0]).toEqual({ seq: 8_192, code: 'busy' });
    expect(refused).toHaveLength(9_000 - 8_192 - 1);
    expect(await stored(home)).toEqual([...Array.from({ length: 8_192 }, (_, seq) => seq), 8_999]);
  });

  it('finishes what is pending at close and refuses what comes later', async () => {
    const home = temporaryHome();
    const store = open(home);
    const writes = [1, 2, 3].map((seq) => store.write('test.put', { seq }, normal));
    await store.close();
    expect(await Promise.all(writes)).toEqual([1, 2, 3]);
    await expect(store.write('test.put', { seq: 4 }, normal)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('says so when the thread dies, and starts another for the next write', async () => {
    const home = temporaryHome();
    const store = open(home);
    await store.write('test.put', { seq: 1 }, normal);
    await expect(store.write('test.die', undefined, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/stopped/),
    });
    expect(await store.write('test.put', { seq: 2 }, normal)).toBe(2);
  });

  it('says so when the thread has no program', async () => {
    const store = createStore<TestWrites>({
      file: databaseFile(temporaryHome()),
      entry: new URL('./absent.ts', import.meta.url),
      reserve: 0,
    });
    await expect(store.write('test.put', { seq: 1 }, normal)).rejects.toMatchObject({ code: 'store_unavailable' });
    await store.close();
  });

  it('waits for another process that holds the lock', async () => {
    const home = temporaryHome();
    const store = open(home);
    await store.write('test.put', { seq: 1 }, normal);
    const other = new DatabaseSync(databaseFile(home));
    other.exec('BEGIN IMMEDIATE');
    let done = false;
    const waiting = store.write('test.put', { seq: 2 }, normal).then((seq) => {
      done = true;
      return seq;
    });
    // A second reader's round trip is proof enough that time has passed and nothing was written.
    expect(await stored(home)).toEqual([1]);
    expect(done).toBe(false);
    other.exec('COMMIT');
    other.close();
    expect(await waiting).toBe(2);
  });

  it('never keeps a process alive that has nothing left to write', async () => {
    const home = temporaryHome();
    const program = `
      import { createStore } from ${JSON.stringify(new URL('../../src/store/index.ts', import.meta.url).href)};
      const store = createStore({ file: ${JSON.stringify(databaseFile(home))}, entry: new URL(${JSON.stringify(entry.href)}), reserve: 0 });
      store.write('test.put', { seq: 1 }, { level: 'normal' });`;
    // Killed when it hangs, which shows as an exit by signal.
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: 'ignore',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await stored(home)).toEqual([1]);
  });
});

describe('writing on the thread that asks', () => {
  const here = { 'test.put_many': testWrites['test.put_many'], 'test.put': testWrites['test.put'] };

  async function warm(home: string): Promise<{ readonly store: Store<TestWrites>; readonly count: number }> {
    const store = createStore<TestWrites>({ file: databaseFile(home), entry, reserve: 0, here });
    stores.push(store);
    for (let seq = 0; ; seq++) if ((await store.write('test.put_many', { seq }, normal)).here) return { store, count: seq + 1 };
  }

  it('begins once it pays, and keeps the order with what the other thread does', async () => {
    const home = temporaryHome();
    const { store, count } = await warm(home);
    expect(count).toBeGreaterThan(10);
    const more = Array.from({ length: 600 }, (_, i) => count + i);
    await Promise.all(more.map((seq) => store.write('test.put', { seq }, { level: seq % 97 === 0 ? 'full' : 'normal' })));
    expect(await stored(home)).toEqual(Array.from({ length: count + 600 }, (_, seq) => seq));
    expect((await store.write('test.put_many', { seq: 9_999 }, { level: 'full' })).here).toBe(false);
    // On a busy machine it may take some more before it pays again.
    for (let seq = 10_000; !(await store.write('test.put_many', { seq }, normal)).here; seq++);
  });

  it('does those of one name together, and one by one when that fails', async () => {
    const home = temporaryHome();
    const { store, count } = await warm(home);
    const put = (seq: number): Promise<unknown> => store.write('test.put_many', { seq }, normal);
    expect(await Promise.all([put(count), put(count + 1)])).toEqual(Array(2).fill({ here: true, together: 2 }));
    const results = await Promise.allSettled([put(count + 2), put(-1), put(count + 3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'not_found' } });
    expect(await stored(home)).toEqual(Array.from({ length: count + 4 }, (_, seq) => seq));
  });

  it('leaves it to the other thread to wait for a lock', async () => {
    const home = temporaryHome();
    const { store, count } = await warm(home);
    const other = new DatabaseSync(databaseFile(home));
    other.exec('BEGIN IMMEDIATE');
    const waiting = store.write('test.put_many', { seq: count }, normal);
    await new Promise((next) => setTimeout(next));
    await new Promise((next) => setImmediate(next));
    expect(await stored(home)).toHaveLength(count);
    other.exec('COMMIT');
    other.close();
    expect(await waiting).toMatchObject({ here: false });
  });

  it('stores nothing where nobody would find it, nor in a newer form', async () => {
    const home = temporaryHome();
    const { store, count } = await warm(home);
    const file = databaseFile(home);
    renameSync(file, `${file}.away`);
    await expect(store.write('test.put_many', { seq: count }, normal)).rejects.toMatchObject({ code: 'store_unavailable' });
    renameSync(`${file}.away`, file);
    const other = new DatabaseSync(file);
    other.exec('PRAGMA user_version = 999');
    other.close();
    await expect(store.write('test.put_many', { seq: count }, normal)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('has the write-ahead log moved before it grows without end, and leaves none', async () => {
    const home = temporaryHome();
    const { store, count } = await warm(home);
    const log = `${databaseFile(home)}-wal`;
    let highest = 0;
    for (let seq = count; seq < count + 2_500; seq++) {
      await store.write('test.put_many', { seq }, normal);
      highest = Math.max(highest, statSync(log).size);
    }
    // 2,500 groups are over 20 MiB. A busy machine may have some of them done by the other thread, which moves its log at 16.
    expect(highest).toBeLessThan(18 * 1024 * 1024);
    await store.close();
    expect(statSync(log, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('reading', () => {
  it('sees one moment in a snapshot while writes go on', async () => {
    const home = temporaryHome();
    const store = open(home);
    await store.write('test.put', { seq: 1 }, normal);
    const reader = await openReader(databaseFile(home));
    const count = (): unknown => reader.all('SELECT count(*) AS n FROM audit_checkpoints', [])[0];
    await reader.snapshot(async () => {
      expect(count()).toMatchObject({ n: 1 });
      await store.write('test.put', { seq: 2 }, normal);
      expect(count()).toMatchObject({ n: 1 });
    });
    expect(count()).toMatchObject({ n: 2 });
    expect(() => reader.run('DELETE FROM audit_checkpoints', [])).toThrow(/readonly/);
    reader.close();
  });

  it('says not_found where there is no database', async () => {
    await expect(openReader(databaseFile(temporaryHome()))).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the file', () => {
  it('belongs to its owner alone, with its log, whatever the umask', async () => {
    const home = join(temporaryHome(), 'deep', 'home');
    const before = process.umask(0);
    try {
      const store = open(home);
      await store.write('test.put', { seq: 1 }, normal);
      const modes = ['', 'writ.db', 'writ.db-wal', 'writ.db-shm'].map((name) => (statSync(join(home, name)).mode & 0o777).toString(8));
      expect(modes).toEqual(['700', '600', '600', '600']);
    } finally {
      process.umask(before);
    }
  });

  it('of a newer Writ is refused for writing and reading, and not touched', async () => {
    const home = temporaryHome();
    const first = open(home);
    await first.write('test.put', { seq: 1 }, normal);
    await first.close();
    const raw = new DatabaseSync(databaseFile(home));
    raw.exec('PRAGMA user_version = 999; PRAGMA journal_mode = DELETE');
    raw.close();
    const bytes = readFileSync(databaseFile(home));
    const newer = {
      code: 'store_unavailable',
      message: expect.stringMatching(/newer Writ \(schema 999/),
      fix: expect.stringMatching(/Install the newer Writ/),
    };
    await expect(open(home).write('test.put', { seq: 2 }, normal)).rejects.toMatchObject(newer);
    await expect(openReader(databaseFile(home))).rejects.toMatchObject(newer);
    expect(readFileSync(databaseFile(home)).equals(bytes)).toBe(true);
  });

  it('is not written any more once a newer Writ has migrated it', async () => {
    const home = temporaryHome();
    const store = open(home);
    await store.write('test.put', { seq: 1 }, normal);
    const raw = new DatabaseSync(databaseFile(home));
    raw.exec('PRAGMA user_version = 999');
    raw.close();
    await expect(store.write('test.put', { seq: 2 }, normal)).rejects.toMatchObject({ message: expect.stringMatching(/newer Writ/) });
  });

  it('of another program is refused', async () => {
    const home = temporaryHome();
    const raw = new DatabaseSync(databaseFile(home));
    raw.exec('CREATE TABLE recipes (name TEXT)');
    raw.close();
    await expect(open(home).write('test.put', { seq: 1 }, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/not one of Writ's/),
    });
  });

  it('that is damaged is refused with what to do', async () => {
    const home = temporaryHome();
    writeFileSync(databaseFile(home), 'this is no database, and it is long enough to be looked at '.repeat(100));
    const damaged = {
      code: 'store_unavailable',
      message: expect.stringMatching(/damaged/),
      fix: expect.stringMatching(/move .*writ\.db and its -wal and -shm files aside/),
    };
    await expect(open(home).write('test.put', { seq: 1 }, normal)).rejects.toMatchObject(damaged);
    await expect(openReader(databaseFile(home))).rejects.toMatchObject(damaged);
  });

  it.each(['there.db', 'nowhere.db'])('that is a link (to %s) is refused', async (target) => {
    const home = temporaryHome();
    writeFileSync(join(home, 'there.db'), '');
    symlinkSync(join(home, target), databaseFile(home));
    await expect(open(home).write('test.put', { seq: 1 }, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/regular file/),
    });
  });

  it('that is moved away while in use takes no more writes until it is back', async () => {
    const home = temporaryHome();
    const store = open(home);
    await store.write('test.put', { seq: 1 }, normal);
    renameSync(databaseFile(home), join(home, 'aside'));
    await expect(store.write('test.put', { seq: 2 }, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/moved/),
    });
    // In a circle: what can't be looked at is not there either, and the connection is kept.
    symlinkSync('writ.db', databaseFile(home));
    await expect(store.write('test.put', { seq: 2 }, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/moved/),
    });
    rmSync(databaseFile(home));
    writeFileSync(databaseFile(home), '');
    await expect(store.write('test.put', { seq: 2 }, normal)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/replaced/),
    });
    renameSync(join(home, 'aside'), databaseFile(home));
    expect(await store.write('test.put', { seq: 3 }, normal)).toBe(3);
  });
});
