import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AuditWrites, createAuditLog } from '../src/audit/index.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLogger } from '../src/kernel/logger.ts';
import { selfIdentity } from '../src/kernel/self-identity.ts';
import { createStore, databaseFile } from '../src/store/index.ts';
import type { Place } from './place.ts';
import { type Rows, spreadOf, timed } from './row.ts';

const ROUNDS = 5;
const ONE_BY_ONE = 500;
const TOGETHER = 5_000;
const IN_FLIGHT = 64;

/** Rows of the hash chain, each acknowledged after its commit. */
export async function audit(place: Place): Promise<Rows> {
  const home = place.folder('audit');
  const entry = pathToFileURL(join(dirname(place.runner), 'writer-thread.js'));
  const store = createStore<AuditWrites>({ file: databaseFile(home), entry });
  const log = createAuditLog({ store, home, writer: { ...selfIdentity() }, clock: systemClock, logger: silentLogger });
  const record = (): Promise<unknown> =>
    log.record({
      type: 'action.decided',
      at: Date.now(),
      organization: 'org_bench',
      agent: 'agent_bench',
      run: 'run_bench',
      workspace: home,
      action: 'act_bench',
      tool: 'shell',
      data: { arguments: { command: 'git status --short' }, verdict: 'allow', effects: ['safe'], findings: [], opens: [] },
    });
  const rate = async (rows: number, callers: number): Promise<number> => {
    let left = rows;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await record();
    };
    return rows / ((await timed(() => Promise.all(Array.from({ length: callers }, caller)))) / 1000);
  };
  const alone: number[] = [];
  const together: number[] = [];
  try {
    await rate(ONE_BY_ONE, 1);
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await rate(ONE_BY_ONE, 1));
      together.push(await rate(TOGETHER, IN_FLIGHT));
    }
  } finally {
    await log.close();
    await store.close();
  }
  const text = (rates: readonly number[]): string => `${spreadOf(rates).median.toFixed(0)} rows/s`;
  return {
    figures: [
      { what: 'audit rows, each awaited before the next', value: text(alone) },
      { what: `audit rows, ${IN_FLIGHT} awaited at once`, value: text(together) },
    ],
  };
}
