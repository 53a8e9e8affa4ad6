import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../src/cli/app.ts';
import { runProgram } from '../../src/cli/program.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { selfIdentity } from '../../src/kernel/self-identity.ts';
import { type AuditParts, archiveAudit, openAudit } from '../../src/main/parts/audit.ts';
import { openDatabase } from '../../src/main/parts/database.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';
import { temporaryHome } from './support.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 30, 15);
const clock = { now: () => NOW, monotonic: () => 0 };
const home = temporaryHome();
const config = { retention_days: 90, retention_bytes: 2 ** 31 };
const parts = (): AuditParts => ({ home, database: openDatabase(home, WRITER_THREAD), clock, logger: silentLogger, config });

beforeAll(async () => {
  const log = openAudit(parts());
  for (const [i, at] of [NOW - 100 * 24 * HOUR, NOW - 5 * HOUR, NOW - 3 * HOUR, NOW - HOUR].entries()) {
    const who = { agent: `agent_${i % 2}`, run: `run_${i}`, tool: i < 2 ? 'shell' : 'job_list' };
    await log.record({ type: 'action.decided', at, organization: 'org', ...who, data: { i } });
  }
  await log.close();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

async function writ(...argv: string[]): Promise<{ out: string; err: string; code: number }> {
  const said = { out: '', err: '', code: 0 };
  const app = { home: () => home, clock, archiveAudit: () => archiveAudit(parts()) } as Partial<App> as App;
  await runProgram(argv, '0', async () => app, {
    out(text) {
      said.out += text;
    },
    err(text) {
      said.err += text;
    },
    exit(code) {
      said.code = code;
    },
  });
  return said;
}

async function listed(...flags: string[]): Promise<unknown[]> {
  const { out } = await writ('audit', 'list', '--type', 'action', '--json', ...flags);
  return JSON.parse(out).events.map(({ data }: { data: { i: number } }) => data.i);
}

it('audit list filters by tool, agent, run and time', async () => {
  expect(await listed()).toEqual([3, 2, 1, 0]);
  expect(await listed('--tool', 'shell')).toEqual([1, 0]);
  expect(await listed('--agent', 'agent_1')).toEqual([3, 1]);
  expect(await listed('--run', 'run_2')).toEqual([2]);
  expect(await listed('--since', '4h')).toEqual([3, 2]);
  expect(await listed('--since', '2026-11-30T10:00Z', '--tool', 'shell')).toEqual([1]);
  expect(await listed('--agent', 'nobody')).toEqual([]);
  expect(await writ('audit', 'list', '--since', 'lunch')).toMatchObject({
    out: '',
    code: 2,
    err: expect.stringMatching(/"lunch" is not a time/),
  });
});

it('the row that opens the chain says which process writes it', async () => {
  const [opening] = JSON.parse((await writ('audit', 'list', '--type', 'chain.opened', '--json')).out).events;
  expect(opening.data.writer).toEqual({ ...selfIdentity(), version: expect.stringMatching(/^\d+\.\d+/) });
});

it('audit archive moves what is due, and verify, list and show know of it', async () => {
  // The chain was opened now, so nothing of it is old; then it is asked for more than the size allows.
  expect(await writ('audit', 'archive')).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing is old enough/) });
  config.retention_bytes = 1;
  const [event] = JSON.parse((await writ('audit', 'list', '--tool', 'shell', '--json')).out).events;
  expect(await writ('audit', 'archive')).toMatchObject({ code: 0, out: '5 events moved into:\n  audit/archive/000000.jsonl.gz\n' });
  expect(readdirSync(join(home, 'audit', 'archive'))).toEqual(['000000.jsonl.gz']);
  expect(await writ('audit', 'list')).toMatchObject({
    out: expect.stringMatching(/^Nothing .*\n5 older events up to 2026-11-30T15:00:00.000Z .* 1 archive/),
  });
  expect(await writ('audit', 'show', `${event.ref.chain}:${event.ref.seq}`)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/tool: +shell/),
  });
  expect(await writ('audit', 'verify')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^The record is whole\.\n {2}5 rows .*\n {2}5 rows of these in 1 archive: 1 checked\n/),
  });
});
