import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type ApprovalWrites, createApprovals } from '../../src/approvals/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { systemUptime } from '../../src/kernel/uptime.ts';
import { createStore, databaseFile, openReader } from '../../src/store/index.ts';
import { questionOf } from '../helpers/approvals.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/approval-user.ts', import.meta.url));
const QUESTIONS = 40;

/** Killed somewhere between "approved" and "used": what it said it took is taken, and of the rest each is taken once by who comes next. */
test('a process that is killed while it takes yeses: none is taken twice, none is lost', async () => {
  const home = mkdtempSync(join(tmpdir(), 'writ-killed-'));
  const file = databaseFile(home);
  const store = createStore<ApprovalWrites>({ file, entry: WRITER_THREAD, reserve: 0 });
  await store.write('taints.add', { run: 'none', origins: [], at: 0 }, { level: 'normal' });
  const reader = await openReader(file);
  const approvals = createApprovals({
    store,
    reader: async () => reader,
    audit: async () => ({ record: async () => ({ chain: 'c', seq: 0 }), enqueue: () => {}, flush: async () => {}, close: async () => {} }),
    clock: systemClock,
    uptime: systemUptime(),
    logger: silentLogger,
    redactor: { value: (value) => value },
  });
  try {
    const asked = await Promise.all(
      Array.from({ length: QUESTIONS }, async (_, index) => {
        const { record } = await approvals.open(questionOf({ digest: `sha256:${index}` }));
        await approvals.answer(record.id, { decision: 'approve' }, { channel: 'terminal', who: 'me' });
        return record;
      }),
    );
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, home], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'ready') for (const { id, digest } of asked) child.stdin.write(`${id} ${digest}\n`);
      else said.push(line.slice('took '.length));
      // In the middle of it, wherever that is.
      if (said.length === QUESTIONS / 4) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');

    const marks = new Set((reader.all('SELECT id FROM approvals_used', []) as { id: string }[]).map(({ id }) => id));
    expect(marks.size).toBeGreaterThanOrEqual(said.length);
    expect(marks.size).toBeLessThan(QUESTIONS);
    for (const id of said) expect(marks).toContain(id);
    for (const { id, digest } of asked) {
      // The identical call comes again: what wasn't taken is still there for it, within the minute.
      const again = await approvals.open(questionOf({ digest }));
      expect(again.record.id === id, 'an untaken yes waits for the retry').toBe(!marks.has(id));
      expect(await approvals.use(id, digest)).toBe(!marks.has(id));
      expect(await approvals.use(id, digest)).toBe(false);
    }
  } finally {
    await approvals.close();
    reader.close();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  }
}, 60_000);
