import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createApprovals } from '../../src/approvals/approvals.ts';
import { createGrants } from '../../src/approvals/grants.ts';
import { createTaints } from '../../src/approvals/taints.ts';
import type { Approvals, Card, Grants, Question, Taints } from '../../src/approvals/types.ts';
import type { Webhook } from '../../src/approvals/webhook.ts';
import type { ApprovalWrites } from '../../src/approvals/writes.ts';
import type { AuditEvent, AuditLog } from '../../src/audit/types.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import type { Decision } from '../../src/policy/types.ts';
import { createStore, databaseFile, openReader, type Reader, type Store } from '../../src/store/index.ts';
import { WRITER_THREAD } from './programs.ts';

/** For tests: both clocks in the hand of the test. `monotonic` is real, so that waits end. */
export interface TestTime extends Clock {
  /** Both clocks go on. */
  pass(ms: number): void;
  /** Somebody sets the wall clock. */
  set(ms: number): void;
  reboot(): void;
  uptime(): { boot: string; ms: number };
}

export function testTime(): TestTime {
  let wall = 1_790_000_000_000;
  let up = 50_000_000;
  let boots = 1;
  return {
    now: () => wall,
    monotonic: () => performance.now(),
    uptime: () => ({ boot: `boot-${boots}`, ms: up }),
    pass: (ms) => {
      wall += ms;
      up += ms;
    },
    set: (ms) => {
      wall += ms;
    },
    reboot: () => {
      boots += 1;
      up = 0;
    },
  };
}

export interface TestHome {
  readonly home: string;
  readonly time: TestTime;
  readonly events: AuditEvent[];
  reader(): Promise<Reader>;
  /** As another process of the same home would have them: two in turn, each with a writer of its own. */
  another(): { readonly approvals: Approvals; readonly grants: Grants; readonly taints: Taints };
  /** Everything is forgotten, the clocks go on: cheaper than another home for each test. */
  forget(): Promise<void>;
  dispose(): Promise<void>;
}

interface TestProcess {
  readonly store: Store<ApprovalWrites>;
  reader(): Promise<Reader>;
  close(): Promise<void>;
}

const TABLES = ['approvals', 'approvals_used', 'approval_callers', 'approval_channels', 'grants', 'run_origins'];

export function openTestHome({ webhook }: { readonly webhook?: Pick<Webhook, 'notify' | 'close'> } = {}): TestHome {
  const home = mkdtempSync(join(tmpdir(), 'writ-approvals-'));
  const time = testTime();
  const events: AuditEvent[] = [];
  const processes = [openTestProcess(home), openTestProcess(home)] as const;
  const opened: Approvals[] = [];
  const log: AuditLog = {
    record: async (event) => ({ chain: 'chn', seq: events.push(event) }),
    enqueue: (event) => void events.push(event),
    flush: async () => {},
    close: async () => {},
  };
  const closeAll = async (): Promise<void> => {
    for (const each of opened.splice(0)) await each.close();
  };
  return {
    home,
    time,
    events,
    reader: processes[0].reader,
    another() {
      const { store, reader } = processes[opened.length % 2 === 0 ? 0 : 1];
      const parts = { store, reader, audit: async () => log, clock: time, logger: silentLogger, redactor: createRedactor() };
      const approvals = createApprovals({ ...parts, uptime: time.uptime, ...(webhook ? { webhook } : {}) });
      opened.push(approvals);
      return { approvals, grants: createGrants(parts), taints: createTaints(parts) };
    },
    async forget() {
      await closeAll();
      events.length = 0;
      await processes[0].reader();
      const raw = new DatabaseSync(databaseFile(home), { timeout: 5_000 });
      for (const table of TABLES) raw.exec(`DELETE FROM ${table}`);
      raw.close();
    },
    async dispose() {
      await closeAll();
      for (const each of processes) await each.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function openTestProcess(home: string): TestProcess {
  const file = databaseFile(home);
  const store = createStore<ApprovalWrites>({ file, entry: WRITER_THREAD, reserve: 0 });
  const read = async (): Promise<Reader> => {
    // The first write makes the database.
    await store.write('taints.add', { run: 'none', origins: [], at: 0 }, { level: 'normal' });
    return openReader(file);
  };
  let reading: Promise<Reader> | undefined;
  return {
    store,
    reader() {
      reading ??= read();
      return reading;
    },
    async close() {
      (await reading)?.close();
      await store.close();
    },
  };
}

export const OWNER = { organization: 'org_local', agent: 'agent_local', run: 'run_1', workspace: '/w' };

export function cardOf(more: Partial<Card> = {}): Card {
  return {
    tool: 'shell',
    what: 'curl https://example.com',
    cwd: '/w',
    workspace: '/w',
    agent: 'agent_local',
    effects: ['network_egress'],
    reasons: ['connects to example.com [network_egress]'],
    opens: [{ type: 'hosts', hosts: ['example.com'], presets: [] }],
    origins: [],
    grants: [],
    ...more,
  };
}

export function questionOf(more: Partial<Question> = {}): Question {
  return {
    owner: OWNER,
    digest: 'sha256:one',
    card: cardOf(),
    asked_by: { boot_id: 'b', pid: 1, start: '1' },
    ...more,
  };
}

export function decisionOf(more: Partial<Decision> = {}): Decision {
  return { verdict: 'prompt', effects: ['network_egress'], findings: [], opens: [], git_config_write: false, ...more };
}
