/**
 * A writer process of its own: `node appender.ts HOME COUNT SEAL_ROWS`. Prints the reference of each row once it is acknowledged, then
 * closes, or is killed. COUNT 0 means for ever.
 */

import { type AuditWrites, createAuditLog, shortAuditWrites } from '../../src/audit/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createStore, databaseFile } from '../../src/store/index.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';

const [home = '', count = '0', sealRows = '50'] = process.argv.slice(2);
const store = createStore<AuditWrites>({ file: databaseFile(home), entry: WRITER_THREAD, reserve: 0, here: shortAuditWrites });
const seal = { rows: Number(sealRows), after: 60_000 };
const log = createAuditLog({ store, home, writer: { pid: process.pid }, clock: systemClock, logger: silentLogger, seal });

for (let i = 0; count === '0' || i < Number(count); i++) {
  const base = { at: Date.now(), organization: 'org', action: `act_${i}`, tool: 'shell' };
  const { chain, seq } = await log.record({ ...base, type: 'action.decided', data: { i, pid: process.pid } });
  process.stdout.write(`${chain}:${seq}\n`);
  log.enqueue({ ...base, type: 'action.finished', data: { i } });
}
await log.close();
await store.close();
