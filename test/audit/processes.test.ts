import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { showEvent, verifyAudit } from '../../src/audit/index.ts';
import { temporaryHome } from './support.ts';

let home = '';
const children: Writer[] = [];

interface Writer {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  /** References that were acknowledged to it. */
  readonly acknowledged: string[];
  until(count: number): Promise<void>;
  end(): Promise<unknown>;
}

function startWriter(count: number, sealRows = 50): Writer {
  return start(new URL('./appender.ts', import.meta.url), [String(count), String(sealRows)]);
}

/** What it acknowledges are the archives it made. */
function startArchiver(): Writer {
  return start(new URL('./archiver.ts', import.meta.url), []);
}

function start(program: URL, args: readonly string[]): Writer {
  const child = spawn(process.execPath, [fileURLToPath(program), home, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: string[] = [];
  let enough: { readonly count: number; readonly resolve: () => void } | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged.push(line);
    if (enough !== undefined && acknowledged.length >= enough.count) enough.resolve();
  });
  const closed = once(child, 'close');
  const writer: Writer = {
    child,
    acknowledged,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        if (acknowledged.length >= wanted) return resolve();
        enough = { count: wanted, resolve };
        void closed.then(() => reject(new Error(`ended after ${acknowledged.length} rows`)));
      }),
    end: () => closed,
  };
  children.push(writer);
  return writer;
}

async function expectAllThere(writers: readonly Writer[]): Promise<void> {
  for (const { acknowledged } of writers) {
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const [i, ref] of acknowledged.entries()) {
      // A row each time would open the database each time: the first, the last and some between are enough to see a hole.
      if (i % 37 !== 0 && i !== acknowledged.length - 1) continue;
      expect((await showEvent(home, ref)).events[0]).toMatchObject({ type: 'action.decided', data: { i } });
    }
  }
}

beforeEach(() => {
  home = temporaryHome();
});

afterEach(async () => {
  for (const { child, end } of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await end();
  }
  rmSync(home, { recursive: true, force: true });
});

// Real processes on a busy machine: the wait is for conditions, this only ends a hang.
describe('several processes on one record', { timeout: 120_000 }, () => {
  it('four that start on an empty home at once all get their chain, whole and sealed', async () => {
    const writers = [1, 2, 3, 4].map(() => startWriter(150));
    for (const writer of writers) expect(await writer.end()).toEqual([0, null]);
    expect(await verifyAudit(home)).toMatchObject({ ok: true, chains: 4, rows: 4 * 301, sealed: 4 * 301, findings: [] });
    await expectAllThere(writers);
  });

  it('is checked as whole while they write and seal', async () => {
    const writers = [startWriter(0, 7), startWriter(0, 5)];
    await Promise.all(writers.map((writer) => writer.until(20)));
    let last = 0;
    for (let round = 0; round < 8; round++) {
      const report = await verifyAudit(home);
      expect(report.findings).toEqual([]);
      expect(report.rows).toBeGreaterThanOrEqual(last);
      last = report.rows;
    }
    expect(last).toBeGreaterThan(80);
  });

  it('loses no acknowledged row and stays whole when writers are killed in the middle', async () => {
    const writers = [startWriter(0, 7), startWriter(0, 20), startWriter(0, 1_000)];
    await Promise.all(writers.map((writer, index) => writer.until(60 + index * 40)));
    for (const { child } of writers) child.kill('SIGKILL');
    for (const writer of writers) expect(await writer.end()).toEqual([null, 'SIGKILL']);
    expect(await verifyAudit(home)).toMatchObject({ ok: true, chains: 3, findings: [] });
    await expectAllThere(writers);
    const next = startWriter(5);
    await next.end();
    expect(await verifyAudit(home)).toMatchObject({ ok: true, chains: 4, unsealed: 0, findings: [] });
  });

  it('are archived under their hands by two at once, and checked meanwhile', async () => {
    const writers = [startWriter(250, 9), startWriter(250, 14)];
    await Promise.all(writers.map((writer) => writer.until(20)));
    const archivers = [startArchiver(), startArchiver()];
    await Promise.race(archivers.map((archiver) => archiver.until(2)));
    for (let round = 0; round < 5; round++) expect((await verifyAudit(home)).findings).toEqual([]);
    for (const writer of writers) expect(await writer.end()).toEqual([0, null]);
    await killAll(archivers);
    const report = await verifyAudit(home);
    expect(report).toMatchObject({ ok: true, chains: 2, rows: 2 * 501, sealed: 2 * 501, archives: { moved_away: { total: 0 } } });
    expect(report.archives.rows).toBeGreaterThan(40);
    await expectAllThere(writers);
  });

  it('lose no acknowledged row when the one that archives is killed at any moment', async () => {
    const writers = [startWriter(0, 6), startWriter(0, 11)];
    await Promise.all(writers.map((writer) => writer.until(10)));
    // Killed while it has the next step under way: before, in and after the file, the commit, the answer.
    for (let round = 0; round < 4; round++) {
      const archiver = startArchiver();
      await archiver.until(1 + (round % 3));
      await killAll([archiver]);
      expect((await verifyAudit(home)).findings).toEqual([]);
    }
    // Enough for each to have sealed again, so that there is something left to archive.
    await Promise.all(writers.map((writer) => writer.until(writer.acknowledged.length + 30)));
    await killAll(writers);
    const last = startArchiver();
    await last.until(1);
    await killAll([last]);
    const next = startWriter(3);
    await next.end();
    expect(await verifyAudit(home)).toMatchObject({ ok: true, chains: 3, findings: [], archives: { moved_away: { total: 0 } } });
    await expectAllThere(writers);
    // At most what the last one was killed over is left: a piece, or a file that no head names yet.
    const names = readdirSync(join(home, 'audit', 'archive'));
    const { archives } = await verifyAudit(home);
    expect(names.length - archives.total).toBeLessThanOrEqual(1);
  });
});

async function killAll(writers: readonly Writer[]): Promise<void> {
  for (const { child } of writers) child.kill('SIGKILL');
  for (const writer of writers) await writer.end();
}
