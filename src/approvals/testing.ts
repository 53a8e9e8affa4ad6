import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent, AuditLog } from '../audit/types.ts';
import type { Clock } from '../kernel/clock.ts';
import { silentLogger } from '../kernel/logger.ts';
import type { Decision } from '../policy/types.ts';
import { createStore, databaseFile, openReader, type Reader, type Store } from '../store/index.ts';
import { createApprovals } from './approvals.ts';
import { createGrants } from './grants.ts';
import { createTaints } from './taints.ts';
import type { Approvals, Card, Grants, Question, Taints } from './types.ts';
import type { Webhook } from './webhook.ts';
import type { ApprovalWrites } from './writes.ts';

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
  readonly store: Store<ApprovalWrites>;
  reader(): Promise<Reader>;
  /** As another process of the same home would have them. */
  another(): { readonly approvals: Approvals; readonly grants: Grants; readonly taints: Taints };
  dispose(): Promise<void>;
}

export function openTestHome({ webhook }: { readonly webhook?: Pick<Webhook, 'notify' | 'close'> } = {}): TestHome {
  const home = mkdtempSync(join(tmpdir(), 'writ-approvals-'));
  const time = testTime();
  const events: AuditEvent[] = [];
  const file = databaseFile(home);
  const entry = new URL('../main/writer-thread.ts', import.meta.url);
  const stores: Store<ApprovalWrites>[] = [];
  const readers: Promise<Reader>[] = [];
  const opened: Approvals[] = [];
  const log: AuditLog = {
    record: async (event) => ({ chain: 'chn', seq: events.push(event) }),
    enqueue: (event) => void events.push(event),
    flush: async () => {},
    close: async () => {},
  };
  const store = (): Store<ApprovalWrites> => {
    const made = createStore<ApprovalWrites>({ file, entry, reserve: 0 });
    stores.push(made);
    return made;
  };
  const read = async (from: Store<ApprovalWrites>): Promise<Reader> => {
    await from.write('taints.add', { run: 'none', origins: [], at: 0 }, { level: 'normal' });
    const reader = openReader(file);
    readers.push(reader);
    return reader;
  };
  const first = store();
  let reading: Promise<Reader> | undefined;
  return {
    home,
    time,
    events,
    store: first,
    reader() {
      reading ??= read(first);
      return reading;
    },
    another() {
      const own = store();
      let its: Promise<Reader> | undefined;
      const reader = (): Promise<Reader> => {
        its ??= read(own);
        return its;
      };
      const parts = { store: own, reader, audit: async () => log, clock: time, logger: silentLogger };
      const approvals = createApprovals({ ...parts, uptime: time.uptime, ...(webhook ? { webhook } : {}) });
      opened.push(approvals);
      return { approvals, grants: createGrants(parts), taints: createTaints(parts) };
    },
    async dispose() {
      for (const each of opened) await each.close();
      for (const each of await Promise.all(readers)) each.close();
      for (const each of stores) await each.close();
      rmSync(home, { recursive: true, force: true });
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
